import assert from "node:assert/strict";
import { test } from "node:test";
import { readOutputAsk } from "../../../extproc/body/output-ask.js";

const ask = (body: Record<string, unknown>, prompts = 1) => readOutputAsk([body], prompts);

test("takes every name of the limit, and the largest of several", () => {
  const names = ["max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "n_predict"];
  for (const name of names) {
    assert.deepEqual(ask({ [name]: 10 }), { kind: "limited", answers: 1, tokensEach: 10 }, name);
  }
  assert.deepEqual(ask({ max_tokens: 30, max_completion_tokens: 20 }), {
    kind: "limited",
    answers: 1,
    tokensEach: 30,
  });
});

test("multiplies answers by prompts; n and best_of name the same answers", () => {
  assert.deepEqual(ask({ n: 3, best_of: 5 }, 2), { kind: "unlimited", answers: 10 });
});

test("knows several spellings of no limit", () => {
  for (const max_tokens of [undefined, null, -1]) {
    assert.deepEqual(ask({ max_tokens }), { kind: "unlimited", answers: 1 });
  }
  assert.deepEqual(ask({ max_tokens: 10, max_new_tokens: -1 }), { kind: "unlimited", answers: 1 });
});

test("finds limits in any of the places", () => {
  assert.deepEqual(readOutputAsk([{}, { max_tokens: 5 }, { n: 2 }], 1), {
    kind: "limited",
    answers: 2,
    tokensEach: 5,
  });
});

test("concludes nothing from what is no whole number", () => {
  for (const body of [
    { max_tokens: "10" },
    { max_tokens: 1.5 },
    { max_tokens: 1e300 },
    { n: 0 },
    { n: "2" },
    { n: -1 },
  ]) {
    assert.deepEqual(ask(body), { kind: "odd" });
  }
});
