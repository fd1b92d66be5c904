import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../root.js";

/** Of the package, which is that of its modules, too. */
export async function version(): Promise<number> {
  const { version } = JSON.parse(readFileSync(join(findRepoRoot(), "package.json"), "utf8"));
  process.stdout.write(`${String(version)}\n`);
  return 0;
}
