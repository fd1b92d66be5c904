import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readRules } from "../../../extproc/rewrite/rules.js";

const rulesOf = (attributes: Record<string, string>) => readRules(new Map(Object.entries(attributes))).rules;

/** As Envoy 1.40 sent it, but for the second namespace and the nested struct. */
const PRINTED =
  'filter_metadata { key: "envoy.lb" value { fields { key: "model" value { string_value: "wrong" } } } } ' +
  'filter_metadata { key: "llm.breaker" value { fields { key: "backend" value { string_value: "small" } } ' +
  'fields { key: "inner" value { struct_value { fields { key: "model" value { string_value: "deep" } } } } } ' +
  'fields { key: "maxOutputTokens" value { string_value: "1024" } } ' +
  'fields { key: "model" value { string_value: "\\346\\250\\241\\345\\236\\213-\\303\\251 {\\"q\\"}" } } } } ';

test("reads the keys one by one, in both spellings of the expression", () => {
  const path = "xds.cluster_metadata.filter_metadata['llm.breaker']";
  assert.deepEqual(rulesOf({ [`${path}.model`]: "m", [`${path}['maxOutputTokens']`]: "9" }), {
    model: "m",
    maxOutputTokens: 9,
  });
});

test("reads the whole metadata as Envoy prints it: our namespace, its own level, octal UTF-8", () => {
  assert.deepEqual(rulesOf({ "xds.cluster_metadata": PRINTED }), {
    model: '模型-é {"q"}',
    maxOutputTokens: 1024,
  });
  const number = PRINTED.replace('string_value: "1024"', "number_value: 512");
  assert.deepEqual(rulesOf({ "xds.cluster_metadata": number }), {
    model: '模型-é {"q"}',
    maxOutputTokens: 512,
  });
});

test("has no rules without metadata, and no cap that is not a positive whole number", () => {
  assert.deepEqual(rulesOf({}), {});
  assert.deepEqual(rulesOf({ "xds.cluster_metadata": "" }), {});
  for (const cap of ["0", "-1", "1.5", "many", "", "99999999999"]) {
    const read = readRules(
      new Map([["xds.cluster_metadata.filter_metadata['llm.breaker'].maxOutputTokens", cap]]),
    );
    assert.deepEqual(read, { rules: {}, hasBadCap: true });
  }
});

test("never throws on metadata that is cut or odd", () => {
  fc.assert(
    fc.property(fc.nat(PRINTED.length), fc.string(), (cut, noise) => {
      rulesOf({ "xds.cluster_metadata": PRINTED.slice(0, cut) + noise });
    }),
  );
});
