import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { meshFiles } from "../../extproc/render/targets/mesh/examples.js";
import { findRepoRoot } from "../support/repo-root.js";

const textOf = (file: string): string => readFileSync(join(findRepoRoot(), file), "utf8");

test("the examples are what render writes: `npm run -s schema` writes them anew", () => {
  for (const { path, update } of meshFiles()) {
    const present = textOf(path);
    assert.ok(update(present) === present, `${path} is not what render writes`);
  }
});
