import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chat } from "../support/client.js";
import { OPEN, type Rig, recover, startRig } from "./support/rig.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: (policy) => {
      policy.breaker.failureRateThreshold = 0;
    },
  });
});

beforeEach(async () => {
  rig.reset();
  await recover(rig, () => chat(rig.url));
  rig.reset();
});

after(() => rig.stop());

const error = (message: string) =>
  JSON.stringify({ error: { message, type: "InternalServerError", code: 500 } });
const deadEngine = error("EngineCore encountered an issue. See stack trace (above) for the root cause.");
const outOfMemory = error(
  "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.2 GiB is free.",
);

test("one 500 that tells of a dead engine opens at once, and its caller is served", async () => {
  const opened = await rig.counter("gpu", "opened");
  rig.gpu.mode = { kind: "status", status: 500, body: deadEngine };
  const answer = await chat(rig.url);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  assert.equal(await rig.counter("gpu", "opened"), opened + 1);
  assert.equal(rig.transitions().findLast(({ to }) => to === "OPEN")?.cause, "ENGINE_FATAL");
  assert.equal(rig.gpu.arrivals.length, 1);
});

test("a dead engine told of inside a 200 stream opens at once", async () => {
  const opened = await rig.counter("gpu", "opened");
  rig.gpu.mode = { kind: "sseError", at: 0 };
  const answer = await chat(rig.url, { stream: true });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  assert.equal(await rig.counter("gpu", "opened"), opened + 1);
});

test("CUDA out of memory opens on the second one, not on the first", async () => {
  const opened = await rig.counter("gpu", "opened");
  rig.gpu.mode = { kind: "status", status: 500, body: outOfMemory };
  assert.equal((await chat(rig.url)).status, 200);
  assert.equal(await rig.counter("gpu", "opened"), opened);
  assert.equal((await chat(rig.url)).status, 200);
  assert.equal(await rig.counter("gpu", "opened"), opened + 1);
  assert.equal(rig.transitions().findLast(({ to }) => to === "OPEN")?.cause, "OUT_OF_MEMORY");
  assert.deepEqual(rig.hits.slice(0, 2), [2, 2]);
});

test("a user's text that quotes an engine's error is no engine error", async () => {
  const opened = await rig.counter("gpu", "opened");
  const quoted = error('Invalid input: "CUDA error: device-side assert" is not a valid role');
  rig.gpu.mode = { kind: "status", status: 400, body: quoted };
  for (let call = 0; call < 6; call++) assert.equal((await chat(rig.url)).text, quoted);
  rig.gpu.mode = {
    kind: "chunks",
    headers: { "content-type": "application/json" },
    writes: [
      '{"choices":[{"index":0,"message":{"role":"assistant","content":"EngineCore died. {\\"error\\":{\\"message\\":\\"CUDA error\\"}}"},"finish_reason":"stop"}]}',
    ],
  };
  for (let call = 0; call < 6; call++) assert.equal((await chat(rig.url)).status, 200);
  assert.equal(await rig.counter("gpu", "opened"), opened);
  assert.equal(rig.small.arrivals.length, 0);
});

test("five plain failures in a row open, four and a success do not", async () => {
  const opened = await rig.counter("gpu", "opened");
  // Each call asks the same backend twice.
  rig.gpu.mode = { kind: "status", status: 500 };
  await chat(rig.url);
  await chat(rig.url);
  rig.gpu.mode = { kind: "ok" };
  await chat(rig.url);
  assert.equal(await rig.counter("gpu", "opened"), opened);
  rig.gpu.mode = { kind: "status", status: 500 };
  for (let call = 0; call < 3; call++) assert.equal((await chat(rig.url)).status, 200);
  assert.equal(await rig.counter("gpu", "opened"), opened + 1);
});

test("a little backpressure neither opens nor heals, and its caller is served elsewhere", async () => {
  const opened = await rig.counter("gpu", "opened");
  rig.gpu.mode = {
    kind: "status",
    status: 429,
    // Longer than anybody waits, and no longer: a later opening would heed it.
    headers: { "retry-after": "4", "content-type": "application/json" },
  };
  for (let call = 0; call < 8; call++) {
    const answer = await chat(rig.url);
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
    assert.ok(answer.totalMs < 2_000, `waited ${answer.totalMs} ms for another tier`);
  }
  assert.equal(await rig.counter("gpu", "opened"), opened);
  assert.notEqual(await rig.state(), OPEN);
});

test("a 429 whose Retry-After is short is waited for on the same backend", async () => {
  rig.gpu.mode = ({ index }) =>
    index === 0 ? { kind: "status", status: 429, headers: { "retry-after": "1" } } : { kind: "ok" };
  const answer = await chat(rig.url);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
  assert.deepEqual(rig.hits, [2, 0, 0]);
  const [first, second] = rig.gpu.arrivals;
  assert.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= 900, "came back before the time it was told");
});
