import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { findRepoRoot } from "../../support/repo-root.js";

/** Folders with documents of others, or of a build. */
const FOREIGN = /(^|\/)(node_modules|build|\.git|\.cache|tmp)\//;

export interface Fence {
  readonly language: string;
  readonly text: string;
  readonly line: number;
}

/** The repository's documents, by paths from its root. */
export function documents(): string[] {
  const root = findRepoRoot();
  const top = readdirSync(root, { withFileTypes: true });
  const folders = top.filter((entry) => entry.isDirectory() && !FOREIGN.test(`${entry.name}/`));
  const inside = folders.flatMap(({ name }) =>
    readdirSync(join(root, name), { recursive: true, encoding: "utf8" }).map((path) =>
      posix.join(name, path),
    ),
  );
  const files = [...top.filter((entry) => entry.isFile()).map(({ name }) => name), ...inside];
  return files.filter((file) => file.endsWith(".md") && !FOREIGN.test(file)).sort();
}

export function textOf(document: string): string {
  return readFileSync(join(findRepoRoot(), document), "utf8");
}

/** Fenced blocks, in their order. */
export function fencesIn(text: string): Fence[] {
  const fences: Fence[] = [];
  for (const match of text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm)) {
    const [, indent = "", language = "", body = ""] = match;
    const line = text.slice(0, match.index).split("\n").length;
    fences.push({ language, line, text: body.replaceAll(new RegExp(`^${indent}`, "gm"), "") });
  }
  return fences;
}

/** What is left when fenced blocks are blanked; lines keep their numbers. */
export function proseOf(text: string): string {
  return text.replaceAll(/^( *)```\w*\n[\s\S]*?^\1```$/gm, (block) => block.replaceAll(/[^\n]/g, ""));
}

/** The texts between single backticks, outside of fenced blocks. */
export function codeIn(text: string): string[] {
  return [...proseOf(text).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
}

/** Anchors that can be linked to, as GitHub makes them. */
export function anchorsIn(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of proseOf(text).matchAll(/^#+ +(.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
    let unique = slug;
    for (let count = 1; anchors.has(unique); count++) unique = `${slug}-${count}`;
    anchors.add(unique);
  }
  for (const [, id = ""] of text.matchAll(/<a id="([^"]+)">/g)) anchors.add(id);
  return anchors;
}

/** Targets of links and pictures, with the line that has them. */
export function linksIn(text: string): { target: string; line: number }[] {
  return proseOf(text)
    .split("\n")
    .flatMap((line, index) =>
      [...line.replaceAll(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => ({
        target,
        line: index + 1,
      })),
    );
}
