import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../../support/repo-root.js";

export interface Copy {
  /** The stage, or undefined: the build's context. */
  readonly from: string | undefined;
  readonly sources: readonly string[];
}

/** What an image of docker/ is made of. */
export function copiesOf(dockerfile: string): Copy[] {
  const text = readFileSync(join(findRepoRoot(), "docker", dockerfile), "utf8");
  return [...text.matchAll(/^COPY (?:--from=(\S+) )?(.+)$/gm)].map(([, from, paths = ""]) => {
    return { from, sources: paths.split(" ").slice(0, -1) };
  });
}
