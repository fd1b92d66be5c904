import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkFiles } from "../../extproc/check/check.js";
import { findRepoRoot } from "../support/repo-root.js";

const root = findRepoRoot();
const file = (name: string) => ({ name, text: readFileSync(join(root, name), "utf8") });

for (const name of ["envoy/minimal.yaml", "envoy/full.yaml", "envoy/service.yaml"]) {
  test(`nothing is found in ${name}`, () => {
    assert.deepEqual(checkFiles([file(name)]).findings, []);
  });
}

test("nothing is found in full.yaml and the settings of its service together", () => {
  assert.deepEqual(checkFiles([file("envoy/full.yaml"), file("envoy/service.yaml")]).findings, []);
});
