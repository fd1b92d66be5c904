import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chat, send } from "../support/client.js";
import { doneEvent, finishEvent, tokenEvent } from "../support/completion.js";
import { waitFor } from "../support/wait-for.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { addRoute, chainOf } from "./support/shipped-config.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: (policy) => {
      neverOpen(policy);
      chainOf(policy).sameTierRetries = 0;
      policy.chains.two = { ...chainOf(policy), maxAttempts: 2 };
    },
    patch: (config) => addRoute(config, "/two/", "two"),
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

const sick = { kind: "status", status: 500 } as const;
const lastWords = JSON.stringify({ error: { message: "the last tier's own words", type: "server_error" } });

test("when the last tier fails too its own answer is what the caller gets", async () => {
  rig.gpu.mode = sick;
  rig.small.mode = { kind: "reset" };
  rig.public_.mode = { kind: "status", status: 502, body: lastWords };
  const answer = await chat(rig.url);
  assert.equal(answer.status, 502);
  assert.equal(answer.text, lastWords);
  assert.equal(answer.headers["x-llm-breaker-backend"], "public");
  assert.equal(answer.headers["x-llm-breaker-attempts"], "3");
  assert.equal(answer.headers["x-llm-breaker-retry"], undefined);
  assert.deepEqual(rig.hits, [1, 1, 1]);
});

test("an error in the stream of the last tier is passed on byte for byte", async () => {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  rig.small.mode = { kind: "sseError", at: 0 };
  rig.public_.mode = { kind: "sseError", at: 0, error: { message: lastWords } };
  const answer = await chat(rig.url, { stream: true });
  assert.equal(answer.status, 200);
  assert.ok(answer.complete);
  assert.ok(answer.text.includes(JSON.stringify(lastWords)), answer.text);
  assert.deepEqual(rig.hits, [1, 1, 1]);
});

for (const kind of ["reset", "hang", "stall"] as const) {
  test(`when every tier ends by ${kind} the caller gets JSON with Retry-After, and no tier is asked twice`, async () => {
    for (const upstream of [rig.gpu, rig.small, rig.public_]) upstream.mode = { kind };
    const answer = await chat(rig.url, { stream: true });
    assert.ok(answer.status >= 500, `${answer.status} ${answer.text}`);
    assert.ok(answer.complete);
    assert.equal(answer.headers["content-type"], "application/json");
    assert.ok(Number(answer.headers["retry-after"]) >= 1);
    assert.equal(typeof JSON.parse(answer.text).error.message, "string");
    assert.deepEqual(rig.hits, [1, 1, 1]);
  });
}

test("no more attempts are made than the chain allows", async () => {
  for (const upstream of [rig.gpu, rig.small, rig.public_]) upstream.mode = sick;
  const answer = await send(`${rig.url}/two/v1/chat/completions`, { body: '{"messages":[]}' });
  assert.equal(answer.status, 500);
  assert.deepEqual(rig.hits, [1, 1, 0]);
  rig.reset();
  for (const upstream of [rig.gpu, rig.small, rig.public_]) upstream.mode = { kind: "reset" };
  const reset = await send(`${rig.url}/two/v1/chat/completions`, { body: '{"messages":[]}' });
  assert.ok(reset.status >= 500);
  assert.equal(typeof JSON.parse(reset.text).error.message, "string");
  assert.deepEqual(rig.hits, [1, 1, 0]);
});

test("a stream cut after its first token breaks for the caller and is not tried again", async () => {
  rig.gpu.mode = { kind: "cut", at: 4, how: "rst", gapMs: 20 };
  const failures = await rig.counter("gpu", "outcome.failure");
  const answer = await chat(rig.url, { stream: true });
  assert.equal(answer.status, 200);
  assert.equal(answer.complete, false);
  assert.match(answer.text, /token0/);
  assert.deepEqual(rig.hits, [1, 0, 0]);
  await rig.waitForCounter("gpu", "outcome.failure", failures + 1);
});

test("a stream that ends well-formed but unfinished is a failure, and reaches the caller broken", async () => {
  rig.gpu.mode = { kind: "cut", at: 4, how: "clean" };
  const failures = await rig.counter("gpu", "outcome.failure");
  const answer = await chat(rig.url, { stream: true });
  assert.equal(answer.complete, false, "a half must not look like a whole");
  assert.match(answer.text, /token3/);
  assert.deepEqual(rig.hits, [1, 0, 0]);
  await rig.waitForCounter("gpu", "outcome.failure", failures + 1);
});

test("a stream that falls silent after its first token is broken off, not retried", async () => {
  rig.gpu.mode = { kind: "chunks", writes: [tokenEvent("m", "a"), { waitMs: 8000 }] };
  const failures = await rig.counter("gpu", "outcome.failure");
  const answer = await chat(rig.url, { stream: true });
  assert.equal(answer.complete, false);
  assert.ok(answer.totalMs > 1200 && answer.totalMs < 6000, `broken after ${answer.totalMs} ms`);
  assert.deepEqual(rig.hits, [1, 0, 0]);
  assert.equal(await rig.counter("gpu", "outcome.failure"), failures + 1);
  await waitFor(() => rig.gpu.active === 0, 2_000, "the upstream's connection to end");
});

test("an error event after the first token reaches the caller and counts as a failure", async () => {
  const failures = await rig.counter("gpu", "outcome.failure");
  const failure = 'data: {"error":{"message":"EngineCore encountered an issue.","code":500}}\n\n';
  rig.gpu.mode = { kind: "chunks", writes: [tokenEvent("m", "a"), { waitMs: 300 }, failure, doneEvent] };
  const answer = await chat(rig.url, { stream: true });
  assert.equal(answer.status, 200);
  assert.match(answer.text, /EngineCore/);
  assert.deepEqual(rig.hits, [1, 0, 0]);
  await rig.waitForCounter("gpu", "outcome.failure", failures + 1);
});

test("more than the hold limit without a token goes on unheld, never as an error", async () => {
  const overflows = await rig.counter("gpu", "hold_overflow");
  const long = `: ${"x".repeat(20_000)}\n\n`;
  const rest = tokenEvent("m", "a") + finishEvent("m") + doneEvent;
  rig.gpu.mode = { kind: "chunks", writes: [long, long, long, long, { waitMs: 200 }, rest] };
  const answer = await chat(rig.url, { stream: true });
  assert.equal(answer.status, 200);
  assert.equal(answer.text, long.repeat(4) + rest);
  assert.equal(await rig.counter("gpu", "hold_overflow"), overflows + 1);
  assert.deepEqual(rig.hits, [1, 0, 0]);
});

test("a backend's word that it was rate limited does not forbid the next tier", async () => {
  rig.gpu.mode = { kind: "status", status: 429, headers: { "x-envoy-ratelimited": "true" } };
  const answer = await chat(rig.url);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
});

test("a stream of the Messages API is read as one, and one that nobody knows passes as it comes", async () => {
  const delta = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}';
  const stop = '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}';
  const messages = [
    '{"type":"message_start","message":{"usage":{"input_tokens":9}}}',
    delta,
    stop,
    '{"type":"message_stop"}',
  ];
  const odd = ['{"note":"one"}', '{"note":"two"}'];
  const failures = await rig.counter("gpu", "outcome.failure");
  for (const [path, events] of [["/v1/messages", messages] as const, ["/v1/notes", odd] as const]) {
    const body = events.map((event) => `data: ${event}\n\n`).join("");
    rig.gpu.mode = { kind: "chunks", headers: { "content-type": "text/event-stream" }, writes: [body] };
    const answer = await send(rig.url + path, {
      body: '{"stream":true}',
      headers: { "content-type": "application/json" },
    });
    assert.equal(answer.status, 200);
    assert.equal(answer.text, body);
  }
  assert.equal(await rig.counter("gpu", "outcome.failure"), failures);
});
