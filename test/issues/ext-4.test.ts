import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { OPEN, type Rig, startRig, staysOpen } from "../e2e/support/rig.js";
import { chat } from "../support/client.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    policy: ({ breaker, backends }) => {
      Object.assign(breaker, staysOpen);
      backends.small = {
        ...backends.small,
        breaker: { failureRateThreshold: 0, consecutiveFailuresThreshold: 0 },
      };
    },
  });
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  assert.equal(await rig.state(), OPEN);
});

beforeEach(() => rig.reset());

after(() => rig.stop());

test("EXT-4: while the first tier is open its callers reach the second, and the first gets nothing", async () => {
  const success = await rig.counter("small", "outcome.success");
  const gpuOutcomes = await rig.envoy.stats("llm_breaker\\.gpu\\.outcome");
  for (let call = 0; call < 10; call++) {
    const answer = await chat(rig.url, { stream: call % 2 === 0 });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
    assert.equal(answer.headers["x-llm-breaker-attempts"], "1");
  }
  assert.deepEqual(rig.hits, [0, 10, 0]);
  assert.ok(rig.small.arrivals.every(({ body }) => JSON.parse(body.toString()).model === "qwen3-4b"));
  assert.equal(await rig.counter("small", "outcome.success"), success + 10);
  assert.deepEqual(await rig.envoy.stats("llm_breaker\\.gpu\\.outcome"), gpuOutcomes);
});

test("EXT-4: a failure of the second tier is booked on it, and the third answers", async () => {
  rig.small.mode = { kind: "status", status: 500 };
  const failures = await rig.counter("small", "outcome.failure");
  const gpuOutcomes = await rig.envoy.stats("llm_breaker\\.gpu\\.outcome");
  const answer = await chat(rig.url);
  assert.equal(answer.headers["x-llm-breaker-backend"], "public");
  assert.deepEqual(rig.hits, [0, 2, 1]);
  assert.equal(await rig.counter("small", "outcome.failure"), failures + 2);
  assert.deepEqual(await rig.envoy.stats("llm_breaker\\.gpu\\.outcome"), gpuOutcomes);
});

test("EXT-4: each refusal by an open tier is counted once", async () => {
  const refused = await rig.counter("gpu", "refused");
  const permitted = await rig.counter("small", "permitted");
  for (let call = 0; call < 10; call++) await chat(rig.url);
  assert.equal(await rig.counter("small", "permitted"), permitted + 10);
  assert.equal(await rig.counter("gpu", "refused"), refused + 10);
});
