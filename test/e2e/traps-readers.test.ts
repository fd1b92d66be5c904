import assert from "node:assert/strict";
import { type IncomingMessage, request as openRequest } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { chat } from "../support/client.js";
import { completionJson, doneEvent, finishEvent, tokenEvent } from "../support/completion.js";
import { waitFor } from "../support/wait-for.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { chainOf, connectionManager } from "./support/shipped-config.js";

// What callers do to an answer on its way: read slowly, or want it compressed.

const stallMs = 1_000;
const answerMs = 4_000;
let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: (policy) => {
      neverOpen(policy);
      Object.assign(chainOf(policy), { stallTimeout: `${stallMs}ms`, answerTimeout: `${answerMs / 1_000}s` });
    },
    patch: (config) => {
      const library = "type.googleapis.com/envoy.extensions.compression.gzip.compressor.v3.Gzip";
      const type = "type.googleapis.com/envoy.extensions.filters.http.compressor.v3.Compressor";
      connectionManager(config).http_filters.unshift({
        name: "envoy.filters.http.compressor",
        typed_config: {
          "@type": type,
          compressor_library: { name: "gzip", typed_config: { "@type": library } },
        },
      });
    },
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

interface SlowAnswer {
  readonly bytes: number;
  readonly complete: boolean;
}

/** A caller that reads nothing for `pauseMs` after the first bytes, and then all of it. */
function readSlowly(stream: boolean, pauseMs: number): Promise<SlowAnswer> {
  const body = JSON.stringify({ model: "m", stream, messages: [{ role: "user", content: "hi" }] });
  const headers = { "content-type": "application/json", "content-length": String(body.length) };
  return new Promise((resolve, reject) => {
    const settings = { method: "POST", agent: false, headers };
    const call = openRequest(`${rig.url}/v1/chat/completions`, settings, (answer: IncomingMessage) => {
      let bytes = 0;
      answer.once("data", async () => {
        answer.pause();
        await sleep(pauseMs);
        answer.resume();
      });
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      answer.on("error", () => {});
      answer.on("close", () => resolve({ bytes, complete: answer.complete }));
    });
    call.on("error", reject);
    call.end(body);
  });
}

for (const stream of [true, false]) {
  // Mutation: filter/meter/timers.ts, "if (mayBeReader && now <= …) return false" -> nothing: this test fails.
  test(`a caller that reads nothing for long is no stall of the backend, ${stream ? "streamed" : "in one piece"}`, async () => {
    const failures = await rig.counter("gpu", "outcome.failure");
    const success = await rig.counter("gpu", "outcome.success");
    const large = "x".repeat(12_000_000);
    const json = completionJson("m", large);
    rig.gpu.mode = stream
      ? {
          kind: "chunks",
          writes: [tokenEvent("m", "a"), tokenEvent("m", large), finishEvent("m"), doneEvent],
        }
      : {
          kind: "chunks",
          headers: { "content-type": "application/json", "content-length": String(json.length) },
          writes: [json],
        };
    const answer = await readSlowly(stream, 3 * stallMs);
    assert.ok(answer.complete);
    assert.ok(answer.bytes > large.length);
    await rig.waitForCounter("gpu", "outcome.success", success + 1);
    assert.equal(await rig.counter("gpu", "outcome.failure"), failures);
  });
}

test("a caller that reads slowly what fits into the buffers gets all of it", async () => {
  const failures = await rig.counter("gpu", "outcome.failure");
  rig.gpu.mode = {
    kind: "chunks",
    writes: [tokenEvent("m", "x".repeat(400_000)), finishEvent("m"), doneEvent],
  };
  assert.ok((await readSlowly(true, 2 * stallMs)).complete);
  assert.equal(await rig.counter("gpu", "outcome.failure"), failures);
});

test("a backend that falls silent is a failure, and its caller does not wait for ever", async () => {
  const failures = await rig.counter("gpu", "outcome.failure");
  rig.gpu.mode = { kind: "chunks", writes: [tokenEvent("m", "x".repeat(400_000)), { waitMs: 3_000 }] };
  const answer = await chat(rig.url, { stream: true, timeoutMs: 6_000 });
  assert.equal(answer.complete, false);
  assert.ok(answer.totalMs < 3 * stallMs, `${answer.brokenBy} after ${answer.totalMs} ms`);
  assert.equal(await rig.counter("gpu", "outcome.failure"), failures + 1);
  await waitFor(() => rig.gpu.active === 0, 3_000, "the attempt's end");
});

// Mutation: filter/meter/timers.ts, "mayBeReader ? Outcome.NEUTRAL : Outcome.FAILURE" -> "Outcome.FAILURE": this test fails.
test("a silence that may be a slow reader's lasts as long as an answer may take, and is nobody's failure", async () => {
  const [failures, neutral] = await Promise.all([
    rig.counter("gpu", "outcome.failure"),
    rig.counter("gpu", "outcome.neutral"),
  ]);
  rig.gpu.mode = { kind: "chunks", writes: [tokenEvent("m", "x".repeat(2_000_000)), { waitMs: 6_000 }] };
  const answer = await chat(rig.url, { stream: true, timeoutMs: 3 * answerMs });
  assert.equal(answer.brokenBy, "aborted");
  // The last byte is known to a tick.
  assert.ok(answer.totalMs > answerMs - 300 && answer.totalMs < 2 * answerMs, `after ${answer.totalMs} ms`);
  assert.equal(await rig.counter("gpu", "outcome.neutral"), neutral + 1);
  assert.equal(await rig.counter("gpu", "outcome.failure"), failures);
});

test("a caller that wants gzip gets it from Envoy, while the breaker reads the backend's plain answer", async () => {
  const success = await rig.counter("gpu", "outcome.success");
  const headers = { "accept-encoding": "gzip, deflate, br, zstd" };
  const json = completionJson("m", "compressible ".repeat(100));
  rig.gpu.mode = { kind: "chunks", headers: { "content-type": "application/json" }, writes: [json] };
  const whole = await chat(rig.url, { headers });
  assert.equal(whole.headers["content-encoding"], "gzip");
  assert.equal(gunzipSync(whole.body).toString(), json);
  assert.equal(rig.gpu.arrivals[0]?.headers["accept-encoding"], "identity");
  assert.equal(await rig.counter("gpu", "outcome.success"), success + 1);
  // Read, since it can be: an error in a 200 is seen through.
  rig.gpu.mode = { kind: "sseError", at: 0 };
  const moved = await chat(rig.url, { stream: true, headers });
  assert.equal(moved.headers["x-llm-breaker-backend"], "small");
  assert.equal(rig.small.arrivals[0]?.headers["accept-encoding"], "identity");
});
