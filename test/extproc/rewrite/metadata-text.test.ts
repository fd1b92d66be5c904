import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readMetadataText } from "../../../extproc/rewrite/metadata-text.js";

/** As Envoy 1.40 sent it, but for the second namespace and the nested struct. */
const PRINTED =
  'filter_metadata { key: "envoy.lb" value { fields { key: "model" value { string_value: "wrong" } } } } ' +
  'filter_metadata { key: "llm.breaker" value { fields { key: "backend" value { string_value: "small" } } ' +
  'fields { key: "inner" value { struct_value { fields { key: "model" value { string_value: "deep" } } } } } ' +
  'fields { key: "includeUsage" value { bool_value: true } } ' +
  'fields { key: "maxOutputTokens" value { number_value: 1024 } } ' +
  'fields { key: "model" value { string_value: "\\346\\250\\241\\345\\236\\213-\\303\\251 {\\"q\\"}" } } } } ';

test("reads the metadata as Envoy prints it: our namespace, its own level, octal UTF-8", () => {
  assert.deepEqual(Object.fromEntries(readMetadataText(PRINTED, "llm.breaker")), {
    backend: "small",
    includeUsage: "true",
    maxOutputTokens: "1024",
    model: '模型-é {"q"}',
  });
  assert.equal(readMetadataText("", "llm.breaker").size, 0);
  assert.equal(readMetadataText(PRINTED, "other").size, 0);
});

test("never throws on metadata that is cut or odd", () => {
  fc.assert(
    fc.property(fc.nat(PRINTED.length), fc.string(), (cut, noise) => {
      readMetadataText(PRINTED.slice(0, cut) + noise, "llm.breaker");
    }),
  );
});
