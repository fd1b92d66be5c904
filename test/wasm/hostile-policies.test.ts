import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { readRecord } from "./backend-record.js";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { Worker } from "./worker.js";

// Two policies in use at once, on two listeners or for the streams that outlive a push, share the records of their backends.

let world: World;

beforeEach(() => {
  world = new World();
});

const rateOnly = { consecutiveFailuresThreshold: 0, failureRateThreshold: 35, minimumNumberOfCalls: 10 };

function workerOf(name: string, slidingWindowSize: number): Worker {
  return new Worker(
    world,
    JSON.stringify({ ...JSON.parse(policyWith({ ...rateOnly, slidingWindowSize })), name }),
  );
}

/** `calls` at gpu, three in five of them failing, each in a second of its own at most. */
function fail(worker: Worker, calls: number, between: (call: number) => void): void {
  for (let call = 0; call < calls; call++) {
    const isBad = call % 5 < 3;
    worker.send({ answer: (cluster) => (isBad && cluster === "gpu" ? { status: 500 } : { status: 400 }) });
    between(call);
    world.clock.advance(200);
  }
}

describe("two policies of one backend whose windows differ", () => {
  for (const [what, names] of [
    ["on two listeners", ["a", "b"]],
    ["of which one was pushed after the other", ["a", "a"]],
  ] as const) {
    test(`${what}: little traffic by the one does not empty the other's window`, () => {
      const first = workerOf(names[0], 30);
      const second = workerOf(names[1], 60);
      fail(first, 60, (call) => {
        if (call % 6 === 5) second.send();
      });
      assert.equal(readRecord(world, "gpu").state, "OPEN");
    });
  }
});
