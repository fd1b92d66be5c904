import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The checkout's top folder. Compiled code may live outside of it, so the working folder is tried as well.
 * @throws when neither this file nor the working folder lies in a checkout
 */
export function findRepoRoot(): string {
  for (const start of [dirname(fileURLToPath(import.meta.url)), process.cwd()]) {
    for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
      if (isRepoRoot(folder)) return folder;
    }
  }
  throw new Error("run this from inside the llm-breaker checkout");
}

function isRepoRoot(folder: string): boolean {
  const file = join(folder, "package.json");
  return existsSync(file) && JSON.parse(readFileSync(file, "utf8")).name === "llm-breaker";
}
