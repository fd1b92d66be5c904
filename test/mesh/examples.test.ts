import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { EXAMPLE_POLICY, meshExamples } from "../../extproc/render/targets/mesh/examples.js";
import { findRepoRoot } from "../support/repo-root.js";

const textOf = (file: string): string => readFileSync(join(findRepoRoot(), file), "utf8");

test("the examples are what render writes: node scripts/mesh-examples.mjs writes them anew", () => {
  for (const [file, text] of meshExamples(textOf(EXAMPLE_POLICY))) {
    assert.ok(textOf(file) === text, `${file} is not what render writes`);
  }
});
