import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../../support/repo-root.js";

/** The document that tells how full.yaml is traced. */
export function tracingDocs(): string {
  return readFileSync(join(findRepoRoot(), "docs/operations.md"), "utf8");
}

/** What the command in the docs makes of full.yaml, but for the file that it writes. */
export function tracedYaml(): string {
  const [command = ""] =
    /^sed .* envoy\/full\.yaml(?= > envoy\/full-traced\.yaml$)/m.exec(tracingDocs()) ?? [];
  return execFileSync("sh", ["-c", command], { cwd: findRepoRoot(), encoding: "utf8" });
}
