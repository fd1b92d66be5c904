import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGE_NAME = "llm-breaker";

let root: string | undefined;

/**
 * The folder that holds our package.json, looked for once. Compiled code lives in build/, assets (vocabularies, protos) stay
 * in the source tree, so both are found from here. Falls back to the working directory, which covers a build
 * into a folder outside the tree.
 */
export function findRepoRoot(): string {
  root ??= searchRoot();
  return root;
}

function searchRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(manifest) && readFileSync(manifest, "utf8").includes(`"name": "${PACKAGE_NAME}"`)) {
      return folder;
    }
    if (folder === dirname(folder)) return process.cwd();
  }
}
