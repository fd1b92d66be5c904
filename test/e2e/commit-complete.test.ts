import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chat, send, sseData } from "../support/client.js";
import { doneEvent, finishEvent, tokenEvent } from "../support/completion.js";
import { neverOpen, OPEN, type Rig, startRig, staysOpen } from "./support/rig.js";
import { addRoute, chainOf } from "./support/shipped-config.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: (policy) => {
      neverOpen(policy);
      Object.assign(policy.breaker, staysOpen);
      policy.breaker.engineFatal = true;
      const chat = chainOf(policy);
      policy.chains.complete = { ...chat, commit: "complete" };
      policy.chains.hasty = { ...chat, firstTokenTimeout: "700ms", attemptsDeadline: "1s" };
      policy.chains.bypass = { ...chat, tiers: ["gpu"], exhausted: { action: "bypass" } };
      policy.chains.busy = { ...chat, tiers: ["gpu"], exhausted: { action: "reply", status: 429 } };
    },
    patch: (config) => {
      for (const chain of ["complete", "hasty", "bypass", "busy"]) addRoute(config, `/${chain}/`, chain);
    },
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "hi" }] });
const ask = (chain: string) => send(`${rig.url}/${chain}/v1/chat/completions`, { body });

test("commit complete: a stream cut after tokens is answered whole by the next tier", async () => {
  rig.gpu.mode = { kind: "cut", at: 5, how: "rst", gapMs: 20 };
  const answer = await ask("complete");
  assert.ok(answer.complete);
  assert.equal(answer.status, 200);
  assert.notEqual(answer.headers["x-llm-breaker-backend"], "gpu");
  assert.equal(sseData(answer.text).filter((data) => data.includes("token0")).length, 1);
  assert.equal(sseData(answer.text).at(-1), "[DONE]");
});

test("commit complete: a stream that stalls after tokens is answered whole by the next tier", async () => {
  rig.gpu.mode = { kind: "chunks", writes: [tokenEvent("m", "lost"), { waitMs: 8_000 }] };
  const answer = await ask("complete");
  assert.ok(answer.complete);
  assert.doesNotMatch(answer.text, /lost/);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
});

test("commit complete: an error after tokens is answered whole by the next tier", async () => {
  const failure = 'data: {"error":{"message":"Internal error","code":500}}\n\n';
  rig.gpu.mode = { kind: "chunks", writes: [tokenEvent("m", "lost"), { waitMs: 200 }, failure, doneEvent] };
  const answer = await ask("complete");
  assert.doesNotMatch(answer.text, /lost|error/);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
});

test("commit complete: a healthy stream comes whole, and one over a megabyte comes unheld", async () => {
  rig.gpu.mode = { kind: "sse", events: 5, gapMs: 50 };
  const healthy = await ask("complete");
  assert.equal(healthy.headers["x-llm-breaker-backend"], "gpu");
  assert.ok((healthy.firstByteMs ?? 0) > 200, "it was not held");
  const events = Array.from({ length: 40 }, () => tokenEvent("m", "x".repeat(40_000)));
  rig.gpu.mode = { kind: "chunks", writes: [...events, finishEvent("m"), doneEvent] };
  const large = await ask("complete");
  assert.equal(large.status, 200);
  assert.equal(large.text, events.join("") + finishEvent("m") + doneEvent);
});

test("no attempt starts after the attempts' deadline", async () => {
  for (const upstream of [rig.gpu, rig.small, rig.public_]) upstream.mode = { kind: "hang" };
  const answer = await ask("hasty");
  assert.ok(answer.status >= 500);
  assert.equal(typeof JSON.parse(answer.text).error.message, "string");
  assert.deepEqual(rig.hits, [1, 1, 0]);
});

test("a fallback that does not know the model or the key is passed over, the first tier's 4xx is not", async () => {
  rig.gpu.mode = { kind: "status", status: 500 };
  const failures = await rig.counter("public", "outcome.failure");
  for (const status of [401, 403, 404]) {
    rig.small.mode = { kind: "status", status };
    const answer = await chat(rig.url);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["x-llm-breaker-backend"], "public");
  }
  // The public tier's key is ours: that it is refused is a failure of that backend.
  rig.small.mode = { kind: "status", status: 500 };
  rig.public_.mode = { kind: "status", status: 401 };
  const answer = await chat(rig.url);
  // Nor is it an answer for the caller, whose key is another: what the backends before it said is.
  assert.equal(answer.status, 500);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  assert.equal(answer.headers["x-llm-breaker-tried"], "gpu=500, gpu=500, small=500, public=401");
  assert.equal(await rig.counter("public", "outcome.failure"), failures + 1);
});

test("with the only tier open a chain refuses by its own status, or lets pass, as it was told", async () => {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await ask("busy");
  assert.equal(await rig.state(), OPEN);
  rig.reset();
  const refused = await ask("busy");
  assert.equal(refused.status, 429);
  assert.equal(JSON.parse(refused.text).error.code, "llm_breaker_exhausted");
  assert.deepEqual(rig.hits, [0, 0, 0]);
  const passed = await ask("bypass");
  assert.equal(passed.status, 200);
  assert.equal(passed.headers["x-llm-breaker-backend"], "gpu");
  assert.deepEqual(rig.hits, [1, 0, 0]);
});
