import assert from "node:assert/strict";
import { test } from "node:test";
import { RULES } from "../../extproc/check/rules/all.js";
import { BROKEN } from "./support/broken.js";
import { FULL } from "./support/change.js";
import { CLUSTER_CHANGES } from "./support/cluster-changes.js";
import { replaced, rulesFound, shipped } from "./support/found.js";
import { MESH_CHANGES } from "./support/mesh-changes.js";
import { TRAFFIC_CHANGES } from "./support/traffic-changes.js";

const CASES = [...TRAFFIC_CHANGES, ...CLUSTER_CHANGES, ...MESH_CHANGES];

test("each rule is met by a test", () => {
  const met = new Set([...CASES.map(({ rule }) => rule), ...Object.values(BROKEN).flat()]);
  assert.deepEqual(
    RULES.map(({ id }) => id).filter((id) => !met.has(id)),
    [],
  );
});

for (const { rule, in: name = FULL, changes, also = [], options, beside } of CASES) {
  test(`${rule} is found in a changed ${name}`, () => {
    const { text } = shipped(name);
    const changed = changes.reduce((present, [from, to]) => replaced(present, from, to), text);
    assert.deepEqual(
      rulesFound([{ name, text: changed }, ...(beside ? [shipped(beside)] : [])], options),
      [rule, ...also].sort(),
    );
  });
}
