import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CheckOptions, checkFiles } from "../../../extproc/check/check.js";
import type { CheckedFile } from "../../../extproc/check/setup/read.js";
import { findRepoRoot } from "../../support/repo-root.js";

/** A file of the repository. */
export function shipped(name: string): CheckedFile {
  return { name, text: readFileSync(join(findRepoRoot(), name), "utf8") };
}

/** Rules that found something, each once, in alphabetical order. */
export function rulesFound(files: readonly CheckedFile[], options?: CheckOptions): string[] {
  return [...new Set(checkFiles(files, options).findings.map(({ rule }) => rule))].sort();
}

/** `from` stands there: a row that no longer fits the file would test nothing. */
export function replaced(text: string, from: string | RegExp, to: string): string {
  const changed = text.replace(from, to);
  if (changed === text) throw new Error(`${String(from)} is not in the text`);
  return changed;
}
