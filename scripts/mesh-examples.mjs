#!/usr/bin/env node
// Writes the examples of envoy/kubernetes, envoy/istio and envoy/envoy-gateway anew, with what `npm run build` has built.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const repoRoot = join(dirname(fileURLToPath(import.meta.url)), "..");
const { EXAMPLE_POLICY, meshExamples } = await import(
  join(repoRoot, "build", "js", "extproc", "render", "targets", "mesh", "examples.js")
);
for (const [file, text] of meshExamples(readFileSync(join(repoRoot, EXAMPLE_POLICY), "utf8"))) {
  writeFileSync(join(repoRoot, file), text);
}
