import assert from "node:assert/strict";
import { test } from "node:test";
import { CANARY_ATTRIBUTE, readCanaryLimits } from "../../../extproc/count/canary-ask.js";
import type { RequestFacts } from "../../../extproc/count/facts.js";
import { UNKNOWN_FACTS } from "../../../extproc/count/facts.js";
import { isCanary } from "../../../extproc/count/verdict.js";

const LIMITS = { maxPromptTokens: 256, maxOutputTokens: 1024 };
const SMALL: RequestFacts = {
  promptTokens: 256,
  exact: true,
  stream: false,
  media: { images: 0, audio: 0 },
  output: { kind: "limited", answers: 1, tokensEach: 1024 },
};

test("takes a request at both limits and none above", () => {
  assert.ok(isCanary(SMALL, LIMITS));
  assert.ok(!isCanary({ ...SMALL, promptTokens: 257 }, LIMITS));
  assert.ok(!isCanary({ ...SMALL, output: { kind: "limited", answers: 1, tokensEach: 1025 } }, LIMITS));
  assert.ok(!isCanary({ ...SMALL, output: { kind: "limited", answers: 2, tokensEach: 513 } }, LIMITS));
});

test("reads an unlimited ask as the cap, once per answer", () => {
  assert.ok(isCanary({ ...SMALL, output: { kind: "unlimited", answers: 1 } }, LIMITS));
  assert.ok(!isCanary({ ...SMALL, output: { kind: "unlimited", answers: 2 } }, LIMITS));
});

test("takes nothing of unknown size, odd asks, pictures or sounds, or without limits", () => {
  const { promptTokens: _, ...unsized } = SMALL;
  assert.ok(!isCanary(unsized, LIMITS));
  assert.ok(!isCanary(UNKNOWN_FACTS, LIMITS));
  assert.ok(!isCanary({ ...SMALL, output: { kind: "odd" } }, LIMITS));
  assert.ok(!isCanary({ ...SMALL, media: { images: 1, audio: 0 } }, LIMITS));
  assert.ok(!isCanary({ ...SMALL, media: { images: 0, audio: 1 } }, LIMITS));
  assert.ok(!isCanary(SMALL, undefined));
});

test("takes limits only when they are whole and complete", () => {
  const read = (text: string) => readCanaryLimits(new Map([[CANARY_ATTRIBUTE, text]]));
  assert.deepEqual(read(JSON.stringify(LIMITS)), LIMITS);
  for (const text of [
    "",
    "x",
    "{}",
    "null",
    '{"maxPromptTokens":1}',
    '{"maxPromptTokens":-1,"maxOutputTokens":1}',
  ]) {
    assert.equal(read(text), undefined, text);
  }
  assert.equal(readCanaryLimits(new Map()), undefined);
});
