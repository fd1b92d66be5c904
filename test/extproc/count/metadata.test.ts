import assert from "node:assert/strict";
import { test } from "node:test";
import { type RequestFacts, UNKNOWN_FACTS } from "../../../extproc/count/facts.js";
import { outputTokensOf, toDynamicMetadata } from "../../../extproc/count/metadata.js";

const FACTS: RequestFacts = {
  promptTokens: 12,
  exact: true,
  stream: true,
  media: { images: 1, audio: 2 },
  output: { kind: "limited", answers: 2, tokensEach: 50 },
  model: "m\ud800",
};

const fieldsOf = (...given: Parameters<typeof toDynamicMetadata>) =>
  toDynamicMetadata(...given).fields?.["llm.breaker"]?.structValue?.fields;

test("tells facts, verdict and texts under our namespace", () => {
  assert.deepEqual(fieldsOf(FACTS, true, { reservation: "r" }), {
    promptTokens: { numberValue: 12 },
    outputTokens: { numberValue: 100 },
    exact: { boolValue: true },
    stream: { boolValue: true },
    images: { numberValue: 1 },
    audio: { numberValue: 2 },
    model: { stringValue: "m\ufffd" },
    canary: { boolValue: true },
    reservation: { stringValue: "r" },
  });
});

test("leaves out what is not known", () => {
  const fields = fieldsOf(UNKNOWN_FACTS, false);
  assert.deepEqual(Object.keys(fields ?? {}).sort(), ["audio", "canary", "exact", "images", "stream"]);
});

test("knows no output of an unlimited or odd ask", () => {
  assert.equal(outputTokensOf({ ...FACTS, output: { kind: "unlimited", answers: 1 } }), undefined);
  assert.equal(outputTokensOf(UNKNOWN_FACTS), undefined);
});
