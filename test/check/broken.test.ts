import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findRepoRoot } from "../support/repo-root.js";
import { BROKEN } from "./support/broken.js";
import { rulesFound, shipped } from "./support/found.js";

for (const [name, expected] of Object.entries(BROKEN)) {
  test(`${name}.yaml: ${expected.join(", ")}`, () => {
    assert.deepEqual(rulesFound([shipped(`test/check/broken/${name}.yaml`)]), [...expected].sort());
  });
}

test("no broken file is forgotten", () => {
  const files = readdirSync(join(findRepoRoot(), "test", "check", "broken"));
  assert.deepEqual(
    files.sort(),
    Object.keys(BROKEN)
      .map((name) => `${name}.yaml`)
      .sort(),
  );
});
