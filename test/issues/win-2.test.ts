import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CLOSED, OPEN, type Rig, startRig, staysOpen } from "../e2e/support/rig.js";
import { chat } from "../support/client.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    file: "minimal",
    policy: ({ breaker }) => {
      Object.assign(breaker, {
        slidingWindowSize: 3,
        minimumNumberOfCalls: 10,
        failureRateThreshold: 50,
        consecutiveFailuresThreshold: 0,
        ...staysOpen,
      });
    },
  });
  rig.gpu.mode = { kind: "status", status: 500 };
});

after(() => rig.stop());

async function fail(times: number): Promise<void> {
  for (let call = 0; call < times; call++) assert.equal((await chat(rig.url)).status, 500);
}

// Real time must pass here: the window is the clock's.
test("WIN-2: failures from before a gap longer than the window do not come back to life", async () => {
  await fail(9);
  await sleep(3_600);
  await fail(1);
  assert.equal(await rig.state(), CLOSED);
});

test("WIN-2: sparse failures never open, however many there are", async () => {
  await sleep(3_200);
  for (let second = 0; second < 5; second++) {
    await fail(2);
    await sleep(1_050);
  }
  assert.equal(await rig.state(), CLOSED);
});

test("WIN-2: failures on both sides of a bucket's border count together, and the tenth opens", async () => {
  await sleep(3_200);
  await fail(5);
  await sleep(1_000);
  await fail(4);
  assert.equal(await rig.state(), CLOSED);
  await fail(1);
  assert.equal(await rig.state(), OPEN);
  assert.equal(rig.transitions().at(-1)?.cause, "FAILURE_RATE");
});
