import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../../../extproc/root.js";

/** A recorded table of test/extproc/fixtures, see record.py there. */
export function readFixture<T>(name: string): T {
  return JSON.parse(readFileSync(join(findRepoRoot(), "test", "extproc", "fixtures", name), "utf8")) as T;
}
