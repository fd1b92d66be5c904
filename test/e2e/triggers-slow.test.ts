import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { doneEvent, finishEvent, roleEvent, tokenEvent } from "../support/completion.js";
import { BackendUnderTest, type ExtraBackend, withBackends } from "./support/extra-backends.js";
import { CLOSED, type Rig, startRig } from "./support/rig.js";

const breaker = { slowCallRateThreshold: 1, minimumNumberOfCalls: 2, slowFirstTokenThreshold: "500ms" };
const backends: Record<string, ExtraBackend> = {
  long: { breaker, chain: { firstTokenTimeout: "5s" } },
  pieces: { breaker },
  left: { breaker, chain: { firstTokenTimeout: "5s" } },
  hung: {
    breaker: { ...breaker, slowCallRateThreshold: 0, consecutiveSlowCallsThreshold: 3 },
    chain: { firstTokenTimeout: "5s" },
  },
  pings: { breaker: { ...breaker, slowFirstTokenPerPromptToken: "0ms" }, chain: { firstTokenTimeout: "5s" } },
  prompts: {
    breaker: { ...breaker, slowFirstTokenPerPromptToken: "5ms", minimumNumberOfCalls: 4 },
    chain: { firstTokenTimeout: "5s" },
  },
  silent: { breaker, chain: { firstTokenTimeout: "300ms", firstTokenTimeoutPerPromptToken: "0ms" } },
  tokens: { breaker: { ...breaker, slowCallRateThreshold: 0, slowTokenTime: "50ms" } },
  "tokens-open": { breaker: { ...breaker, slowTokenTime: "50ms" } },
};
const tickMs = 300;
const streamed = { stream: true };
let rig: Rig;

before(async () => {
  rig = await startRig({ concurrency: 1, ...withBackends(backends) });
});

after(() => rig?.stop());

const under = (alias: string) => BackendUnderTest.afterReset(rig, alias);

/** A stream of two tokens that tells its usage. */
const withUsage = (completionTokens: number, waitMs: number) => ({
  kind: "chunks" as const,
  writes: [
    roleEvent("m"),
    tokenEvent("m", "a"),
    { waitMs },
    finishEvent("m"),
    `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":${completionTokens}}}\n\n`,
    doneEvent,
  ],
});

test("a long answer is not slow", async () => {
  const backend = under("long");
  rig.gpu.mode = { kind: "sse", events: 12, gapMs: 100 };
  const answers = await Promise.all([1, 2, 3].map(() => backend.chat(streamed)));
  for (const { complete, totalMs } of answers) assert.ok(complete && totalMs > 1_000);
  assert.equal(await backend.counter("slow"), 0);
  assert.equal(await backend.state(), CLOSED);
});

test("an answer in one piece has no first token, however late it comes", async () => {
  const backend = under("pieces");
  rig.gpu.mode = { kind: "ok", delayMs: 900 };
  await Promise.all([1, 2, 3].map(() => backend.chat()));
  assert.equal(await backend.counter("slow"), 0);
  assert.equal(await backend.state(), CLOSED);
});

test("a caller who left before a first token was due made nothing slow", async () => {
  const backend = under("left");
  rig.gpu.mode = { kind: "ttft", ms: 3_000 };
  await Promise.all([1, 2, 3].map(() => backend.chat({ ...streamed, leaveAfterMs: 300 })));
  assert.equal(await backend.counter("slow"), 0);
  assert.equal(await backend.counter("outcome.neutral"), 3);
  assert.equal(await backend.state(), CLOSED);
});

test("streams that hang open their backend while they still wait", async () => {
  const backend = under("hung");
  rig.gpu.mode = { kind: "hang" };
  let waiting = 3;
  const calls = [1, 2, 3].map(() =>
    backend.chat({ ...streamed, leaveAfterMs: 2_500 }).finally(() => waiting--),
  );
  await backend.waitForCause("CONSECUTIVE_SLOW_CALLS");
  assert.equal(waiting, 3);
  await Promise.all(calls);
  assert.equal(await backend.counter("slow"), 3);
  assert.equal(await backend.counter("outcome.neutral"), 3);
});

test("comments, pings and a role are no first token", async () => {
  const backend = under("pings");
  rig.gpu.mode = {
    kind: "chunks",
    writes: [
      roleEvent("m"),
      ": ping\n\n",
      { waitMs: 400 },
      ": ping\n\n",
      { waitMs: 400 },
      tokenEvent("m", "a"),
      finishEvent("m"),
      doneEvent,
    ],
  };
  await Promise.all([1, 2].map(() => backend.chat(streamed)));
  await backend.waitForCause("SLOW_CALL_RATE");
  assert.equal(await backend.counter("slow"), 2);
  assert.equal(await backend.counter("outcome.success"), 2);
});

test("a long prompt is given more time for its first token", async () => {
  const backend = under("prompts");
  rig.gpu.mode = { kind: "ttft", ms: 1_100 };
  // 300 tokens by their bytes: 500 + 300 × 5 ms.
  const prompt = "x".repeat(900);
  await Promise.all([1, 2, 3].map(() => backend.chat({ ...streamed, prompt })));
  assert.equal(await backend.counter("slow"), 0);
  await backend.chat(streamed);
  await backend.waitForCause("SLOW_CALL_RATE");
  assert.equal(await backend.counter("slow"), 1);
});

test("a first token that never came is slow, before headers and after them", async () => {
  const backend = under("silent");
  rig.gpu.mode = ({ index }) => (index === 0 ? { kind: "hang" } : { kind: "stall" });
  assert.deepEqual(await backend.chats(2, streamed), ["small", "small"]);
  await backend.waitForCause("SLOW_CALL_RATE");
  assert.equal(await backend.counter("slow"), 2);
  assert.equal(await backend.counter("outcome.failure"), 2);
});

test("with slowTokenTime an answer is slow by its time per token, if it tells its usage", async () => {
  const backend = under("tokens");
  const slow = (): Promise<number> => backend.counter("slow");
  rig.gpu.mode = { kind: "ok" };
  await backend.chats(2);
  assert.equal(await slow(), 0, "4 tokens at once");
  rig.gpu.mode = { kind: "ok", delayMs: 400 };
  await backend.chats(1);
  assert.equal(await slow(), 1, "4 tokens in 400 ms");
  rig.gpu.mode = withUsage(100, 400);
  await backend.chats(1, streamed);
  assert.equal(await slow(), 1, "a stream of 100 tokens in 400 ms");
  rig.gpu.mode = withUsage(4, 400);
  await backend.chats(1, streamed);
  assert.equal(await slow(), 2, "a stream of 4 tokens in 400 ms");
  rig.gpu.mode = { kind: "sse", events: 3, gapMs: 150 };
  await backend.chats(1, streamed);
  const unknown = '{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}';
  rig.gpu.mode = {
    kind: "chunks",
    headers: { "content-type": "application/json" },
    writes: [{ waitMs: 300 }, unknown],
  };
  await backend.chats(1);
  assert.equal(await slow(), 2, "no usage, no verdict");
});

test("slow answers in one piece open like late first tokens", async () => {
  const backend = under("tokens-open");
  rig.gpu.mode = { kind: "ok", delayMs: 400 };
  await backend.chats(1);
  await sleep(tickMs);
  assert.equal(await backend.state(), CLOSED, "one call is below the minimum");
  await backend.chats(1);
  await backend.waitForCause("SLOW_CALL_RATE");
});
