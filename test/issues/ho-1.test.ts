import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CLOSED, HALF_OPEN, isProbe, type Rig, recover, startRig } from "../e2e/support/rig.js";
import { chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: ({ breaker }) => {
      breaker.ramp = [{ percent: 100, maxConcurrent: 2, successes: 3 }];
      (breaker.canary as { noDrawAfter?: string }).noDrawAfter = "0s";
    },
  });
});

after(() => rig.stop());

// Mutation: filter/meter/verdict.ts, "isBadStatus(slot.status) ? Outcome.FAILURE : Outcome.NEUTRAL" -> "… : Outcome.SUCCESS": this test fails.
test("HO-1: canaries that end in 400 give their permits back and are no vote", async () => {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  rig.gpu.mode = ({ body }) => (isProbe(body) ? { kind: "ok" } : { kind: "status", status: 400 });
  await rig.waitForCause("PROBE_SUCCEEDED");
  rig.gpu.reset();
  // Far more than there are permits: each must be free again for the next one.
  for (let call = 0; call < 8; call++) assert.equal((await chat(rig.url)).status, 400);
  assert.equal(rig.gpu.arrivals.length, 8);
  assert.equal(await rig.state(), HALF_OPEN);
  assert.equal(await rig.counter("gpu", "outcome.neutral"), 8);
  assert.equal(await rig.counter("gpu", "opened"), 1);

  rig.gpu.mode = { kind: "ok" };
  await recover(rig, () => chat(rig.url));
  assert.equal(await rig.state(), CLOSED);
  assert.equal(await rig.counter("gpu", "canaries"), 8 + 3);
});

test("HO-1: throttled canaries give their permits back as well", async () => {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  const canaries = await rig.counter("gpu", "canaries");
  rig.gpu.mode = ({ body }) =>
    isProbe(body) ? { kind: "ok" } : { kind: "status", status: 429, headers: { "retry-after": "60" } };
  await waitFor(() => rig.transitions().at(-1)?.cause === "PROBE_SUCCEEDED", 10_000, "the ramp");
  for (let call = 0; call < 6; call++) {
    assert.equal((await chat(rig.url)).headers["x-llm-breaker-backend"], "small");
  }
  assert.equal(await rig.counter("gpu", "canaries"), canaries + 6);
  assert.equal(await rig.state(), HALF_OPEN);
  rig.gpu.mode = { kind: "ok" };
  await recover(rig, () => chat(rig.url));
});
