import assert from "node:assert/strict";
import { test } from "node:test";
import { balanceExactly, CLOSED, OPEN, type Rig, startRig, staysOpen } from "../e2e/support/rig.js";
import { chat } from "../support/client.js";

const coldStarts = 4;

function startCold(): Promise<Rig> {
  return startRig({
    file: "minimal",
    concurrency: 16,
    patch: balanceExactly,
    policy: ({ breaker }) => {
      Object.assign(breaker, {
        minimumNumberOfCalls: 64,
        failureRateThreshold: 100,
        consecutiveFailuresThreshold: 0,
        ...staysOpen,
      });
    },
  });
}

const burst = (rig: Rig, size: number) => Promise.all(Array.from({ length: size }, () => chat(rig.url)));

for (let start = 1; start <= coldStarts; start++) {
  test(`WASM-2: no outcome of 16 workers is lost, cold start ${start}`, async () => {
    const rig = await startCold();
    try {
      rig.gpu.mode = { kind: "status", status: 500 };
      await burst(rig, 63);
      // One outcome counted twice would open here, one lost would not open below.
      assert.equal(await rig.state(), CLOSED);
      await burst(rig, 1);
      assert.equal(await rig.state(), OPEN);
      assert.equal(rig.transitions().length, 1);
      assert.equal(await rig.counter("gpu", "outcome.failure"), 64);
      assert.equal(await rig.counter("gpu", "lost_updates"), 0);
      rig.gpu.reset();
      const refused = await burst(rig, 64);
      assert.ok(refused.every(({ status }) => status === 503));
      assert.equal(rig.gpu.arrivals.length, 0);
      assert.equal(await rig.counter("gpu", "refused"), 64);
      assert.equal(rig.envoy.log.matching(/\[(error|critical)\]/).length, 0);
    } finally {
      await rig.stop();
    }
  });
}

test("WASM-2: 64 failures at the same moment are 64 in the window, and open", async () => {
  const rig = await startCold();
  try {
    rig.gpu.mode = { kind: "status", status: 500 };
    await burst(rig, 64);
    assert.equal(await rig.state(), OPEN);
    assert.equal(await rig.counter("gpu", "outcome.failure"), 64);
    assert.equal(await rig.counter("gpu", "opened"), 1);
  } finally {
    await rig.stop();
  }
});
