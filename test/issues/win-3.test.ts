import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { readRecord } from "../wasm/backend-record.js";
import { World } from "../wasm/host/world.js";
import { opensOn, policyWith } from "../wasm/policy.js";
import { badRequest, completion, jsonHead } from "../wasm/recovery.js";
import { type BackendAnswer, Worker } from "../wasm/worker.js";

const hourMs = 3_600_000;
const waitMs = 30_000;
const jitterMs = waitMs / 5;
const tickMs = 250;

let world: World;
let worker: Worker;

beforeEach(() => {
  world = new World();
  // Ahead of all steps back, as the clock of a process that has run for long.
  world.clock.advance(100 * hourMs);
  const waits = { waitDurationInOpenState: `${waitMs}ms`, maxWaitDurationInOpenState: `${waitMs}ms` };
  // No ramp here waits long enough for a probe of its own.
  const canary = { size: "estimate", noDrawAfter: "30s" };
  worker = new Worker(world, policyWith({ ...opensOn(10), slidingWindowSize: 30, ...waits, canary }));
});

const state = (): string => readRecord(world, "gpu").state;

/** Failures of gpu, and of nobody else. */
function fail(times: number): void {
  const answer = (cluster: string): BackendAnswer =>
    cluster === "gpu" ? { status: 500, body: ["no"] } : badRequest;
  for (let call = 0; call < times; call++) worker.send({ answer });
}

function tick(): void {
  world.clock.advance(tickMs);
  worker.vm.tick(worker.gate);
}

/** Milliseconds of real time, in ticks, until the backend's probe is sent. */
function realTimeUntilProbe(): number {
  const before = world.httpCalls.length;
  let elapsedMs = 0;
  while (world.httpCalls.length === before) {
    tick();
    elapsedMs += tickMs;
    assert.ok(elapsedMs < 10 * waitMs, "no probe came");
    assert.equal(worker.send().attempts[0]?.cluster, "small", "an open backend got a request");
  }
  return elapsedMs;
}

/** A good probe, and then canaries: what a wait that is over leads to, and no way around it. */
function assertRecoversByTrial(): void {
  assert.equal(state(), "HALF_OPEN");
  const probe = world.httpCalls.at(-1);
  assert.ok(probe);
  worker.vm.answerHttpCall(probe, jsonHead, completion);
  assert.equal(state(), "HALF_OPEN");
}

// The filter reads a monotonic clock, so what an operator or NTP does to the wall clock is nothing to it.
for (const [what, stepMs] of [
  ["back", -hourMs],
  ["forward", hourMs],
] as const) {
  describe(`WIN-3: the wall clock steps an hour ${what}`, () => {
    test("while open: the wait is neither longer nor shorter, and a trial comes first", () => {
      fail(10);
      assert.equal(state(), "OPEN");
      world.clock.wallMs += stepMs;
      const elapsedMs = realTimeUntilProbe();
      assert.ok(elapsedMs >= waitMs && elapsedMs <= waitMs + jitterMs + tickMs, `${elapsedMs} ms`);
      assertRecoversByTrial();
    });

    test("with nine of ten failures: the tenth opens", () => {
      fail(9);
      world.clock.wallMs += stepMs;
      assert.equal(state(), "CLOSED");
      fail(1);
      assert.equal(state(), "OPEN");
    });
  });
}

// A monotonic clock does not step; should a host's all the same (a resumed machine, a wrong WASI clock), nothing gets stuck.
describe("WIN-3: the filter's own clock steps", () => {
  test("an hour back while open: no longer open than the wait and one tick of real time", () => {
    fail(10);
    world.clock.nowMs -= hourMs;
    const elapsedMs = realTimeUntilProbe();
    assert.ok(elapsedMs <= waitMs + jitterMs + tickMs, `${elapsedMs} ms`);
    assertRecoversByTrial();
  });

  test("an hour forward while open: the wait is over once, and a trial still comes first", () => {
    fail(10);
    world.clock.nowMs += hourMs;
    assert.equal(worker.send().attempts[0]?.cluster, "small", "closed without a trial");
    assert.ok(realTimeUntilProbe() <= 2 * tickMs);
    assertRecoversByTrial();
  });

  test("an hour back with nine of ten failures: no time has passed, and the tenth opens", () => {
    fail(9);
    const before = readRecord(world, "gpu");
    world.clock.nowMs -= hourMs;
    worker.send({ answer: () => badRequest });
    assert.deepEqual(readRecord(world, "gpu"), before);
    fail(1);
    assert.equal(state(), "OPEN");
  });

  test("an hour back while half-open: a permit whose end never comes is free again in time", () => {
    fail(10);
    realTimeUntilProbe();
    assertRecoversByTrial();
    world.clock.nowMs -= hourMs;
    for (let elapsedMs = 0; elapsedMs <= 31_000; elapsedMs += tickMs) tick();
    assert.equal(readRecord(world, "gpu").permits, 0);
    assert.equal(state(), "HALF_OPEN");
  });
});
