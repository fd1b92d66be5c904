import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { CLOSED, HALF_OPEN, type Rig, recover, startRig } from "../e2e/support/rig.js";
import { chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: ({ breaker }) => {
      breaker.ramp = [{ percent: 100, maxConcurrent: 1, successes: 1 }];
    },
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

// Mutation: filter/meter/conclude.ts, "file(slot, Outcome.NEUTRAL, Failure.NONE)" in judgeEnd -> "file(slot, Outcome.SUCCESS, Failure.NONE)": this test fails.
test("OUT-5: callers who leave, before headers or after the first token, are no failures", async () => {
  const failures = await rig.counter("gpu", "outcome.failure");
  const neutral = await rig.counter("gpu", "outcome.neutral");
  const leavers = [];
  for (let round = 0; round < 5; round++) {
    rig.gpu.mode = { kind: "sse", events: 100, gapMs: 100 };
    leavers.push(...Array.from({ length: 8 }, () => chat(rig.url, { stream: true, leaveAfterMs: 300 })));
    leavers.push(...Array.from({ length: 2 }, () => chat(rig.url, { leaveAfterMs: 300 })));
    await waitFor(() => rig.gpu.arrivals.length === (round + 1) * 10 + round, 5_000, "the leavers' arrival");
    rig.gpu.mode = { kind: "ok" };
    assert.equal((await chat(rig.url)).status, 200);
  }
  await Promise.all(leavers);
  await rig.waitForCounter("gpu", "outcome.neutral", neutral + 50);
  assert.equal(await rig.counter("gpu", "outcome.failure"), failures);
  assert.equal(await rig.state(), CLOSED);
  assert.equal(rig.small.arrivals.length, 0);
  await waitFor(() => rig.gpu.active === 0, 5_000, "no attempt is left at the backend");
});

for (const [when, mode] of [
  ["before headers", { kind: "hang" }],
  ["while held", { kind: "stall" }],
  ["after the first token", { kind: "sse", events: 100, gapMs: 100 }],
] as const) {
  test(`OUT-5: the only canary's caller leaves ${when}: its permit is free again and nothing else changed`, async () => {
    rig.gpu.mode = { kind: "sseError", at: 0 };
    await chat(rig.url, { stream: true });
    rig.gpu.mode = { kind: "ok" };
    await waitFor(() => rig.transitions().at(-1)?.cause === "PROBE_SUCCEEDED", 10_000, "the ramp");
    const before = rig.transitions().length;
    const canaries = await rig.counter("gpu", "canaries");
    rig.reset();
    rig.gpu.mode = mode;
    await chat(rig.url, { stream: true, leaveAfterMs: 400 });
    assert.equal(await rig.counter("gpu", "canaries"), canaries + 1);
    await waitFor(() => rig.gpu.active === 0, 5_000, "the canary's end");
    assert.equal(await rig.state(), HALF_OPEN);
    assert.equal(rig.transitions().length, before);
    rig.reset();
    assert.equal((await chat(rig.url)).headers["x-llm-breaker-backend"], "gpu");
    await recover(rig, () => chat(rig.url));
  });
}
