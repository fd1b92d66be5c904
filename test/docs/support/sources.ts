import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../../support/repo-root.js";

const FOLDERS = ["filter", "extproc", "envoy", "demo", "proto", "scripts", "bench"];

/** All words that the product's sources and shipped YAML have: what a document names must be one of them. */
export function wordsOfSources(): Set<string> {
  const root = findRepoRoot();
  const words = new Set<string>();
  for (const folder of FOLDERS) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!/\.(ts|tsx|mts|mjs|yaml|json|proto)$/.test(name) || /vocab\/|node_modules\//.test(name)) continue;
      const text = readFileSync(join(root, folder, name), "utf8");
      for (const [word] of text.matchAll(/[A-Za-z_][A-Za-z0-9_-]*/g)) words.add(word);
    }
  }
  return words;
}
