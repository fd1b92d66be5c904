import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chat, send } from "../support/client.js";
import { CLOSED, OPEN, type Rig } from "./support/rig.js";
import { startShippedRig } from "./support/shipped-rig.js";

// envoy/minimal.yaml as it is: one backend, no service, own ports, own timers.
let rig: Rig;

before(async () => {
  rig = await startShippedRig("minimal");
});

beforeEach(() => rig.reset());

after(() => rig?.stop());

test("answers pass as they come: JSON, streams from their first byte, 6 MB", async () => {
  assert.equal((await chat(rig.url)).status, 200);
  rig.gpu.mode = { kind: "ttft", ms: 800 };
  const stream = await chat(rig.url, { stream: true });
  assert.ok((stream.firstByteMs ?? 9e9) < 600, `first byte after ${stream.firstByteMs} ms`);
  assert.ok(stream.complete);
  rig.gpu.mode = { kind: "bigJson", bytes: 6_000_000 };
  const big = await chat(rig.url);
  assert.equal(big.status, 200);
  assert.equal(Number(big.headers["content-length"]), big.body.length);
});

test("a single failure is the caller's to see, and no more than one attempt is made", async () => {
  rig.gpu.mode = { kind: "status", status: 500, body: '{"error":{"message":"its own words"}}' };
  const answer = await chat(rig.url);
  assert.equal(answer.status, 500);
  assert.equal(answer.text, '{"error":{"message":"its own words"}}');
  assert.equal(rig.gpu.arrivals.length, 1);
  rig.gpu.mode = { kind: "reset" };
  const reset = await chat(rig.url);
  assert.equal(reset.status, 503);
  assert.equal(typeof JSON.parse(reset.text).error.message, "string");
  assert.equal(rig.gpu.arrivals.length, 2);
});

test("a sick backend is refused at once with JSON and the wait to come, and gets no request", async () => {
  rig.gpu.mode = { kind: "status", status: 500 };
  while ((await rig.state()) === CLOSED) await chat(rig.url);
  assert.equal(await rig.state(), OPEN);
  rig.gpu.reset();
  for (let call = 0; call < 20; call++) {
    const answer = await chat(rig.url, { stream: call % 2 === 0 });
    assert.equal(answer.status, 503);
    assert.equal(answer.headers["content-type"], "application/json");
    assert.equal(answer.headers["x-llm-breaker-reason"], "exhausted");
    const waitSeconds = Number(answer.headers["retry-after"]);
    assert.ok(waitSeconds >= 1 && waitSeconds <= 6, `Retry-After ${waitSeconds}`);
    assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_exhausted");
  }
  assert.equal(rig.gpu.arrivals.length, 0);
});

test("a request with a large body is refused without reading it", async () => {
  const body = "x".repeat(8_000_000);
  const answer = await send(`${rig.url}/v1/chat/completions`, { body });
  // The connection may end before the client has sent all of it.
  if (answer.status !== 0) assert.equal(answer.status, 503);
  assert.ok(answer.totalMs < 2_000, `refused after ${answer.totalMs} ms`);
});

test("it comes back: one probe after the wait, then canaries by their size, then Closed", async () => {
  await rig.waitForCause("PROBE_SUCCEEDED", "gpu", 30_000);
  assert.equal(rig.gpu.arrivals.length, 1);
  const long = "word ".repeat(2_000);
  assert.equal((await chat(rig.url, { prompt: long })).status, 503);
  assert.equal(rig.gpu.arrivals.length, 1);
  const deadline = performance.now() + 60_000;
  while ((await rig.state()) !== CLOSED) {
    assert.ok(performance.now() < deadline, "not closed within a minute");
    const answers = await Promise.all(Array.from({ length: 8 }, () => chat(rig.url)));
    assert.ok(answers.every(({ status }) => status === 200 || status === 503));
  }
  assert.equal(await rig.counter("gpu", "closed"), 1);
  assert.equal((await chat(rig.url, { prompt: long })).status, 200);
});
