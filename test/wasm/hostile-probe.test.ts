import assert from "node:assert/strict";
import { test } from "node:test";
import { readRecord } from "./backend-record.js";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { openGpu, sendProbe } from "./recovery.js";
import { Worker } from "./worker.js";

/** Seconds of 16 to 18 digits; a thousand times each is more than 64 bits hold. The last two leave zeros in the lower 32. */
const hugeSeconds = [
  "9223372036854776",
  "99999999999999999",
  "999999999999999999",
  zerosBelow(17_179_870n),
  zerosBelow(25_000_000n),
];

function zerosBelow(multiple: bigint): string {
  return String(multiple << 29n);
}

for (const seconds of hugeSeconds) {
  test(`a probe that is told to wait ${seconds} s makes the next one wait as long as it may at most`, () => {
    const world = new World();
    const worker = new Worker(world, policyWith({ waitDurationInOpenState: "1s", maxRetryAfter: "60s" }));
    openGpu(world, worker);
    worker.vm.answerHttpCall(sendProbe(world, worker), { ":status": "503", "retry-after": seconds }, "{}");
    const { length } = world.httpCalls;
    const waits = (ms: number): boolean => {
      world.clock.advance(ms);
      worker.vm.tick(worker.gate);
      return world.httpCalls.length === length;
    };
    assert.ok(waits(55_000));
    assert.equal(readRecord(world, "gpu").state, "OPEN");
    assert.ok(!waits(65_000));
  });
}
