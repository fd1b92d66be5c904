import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { readRecord } from "./backend-record.js";
import type { HttpCall } from "./host/http-call.js";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { completion, jsonHead, recoverToRamp } from "./recovery.js";
import { Worker } from "./worker.js";

const policy = policyWith({
  waitDurationInOpenState: "1s",
  ramp: [{ percent: 5, maxConcurrent: 2, successes: 3 }],
});
/** Twice `canary.noDrawAfter`. */
const idleMs = 20_000;

let world: World;
let workers: Worker[];

beforeEach(() => {
  world = new World();
  workers = Array.from({ length: 4 }, () => new Worker(world, policy));
  recoverToRamp(world, workers[0] as Worker);
  world.httpCalls.length = 0;
});

const gpu = () => readRecord(world, "gpu");

/** All workers tick once; the calls they made. */
function tickAll(afterMs: number): HttpCall[] {
  world.clock.advance(afterMs);
  const before = world.httpCalls.length;
  for (const { vm, gate } of workers) vm.tick(gate);
  return world.httpCalls.slice(before);
}

function answer(call: HttpCall | undefined, headers: Record<string, string>, body: string): void {
  assert.ok(call, "no probe was sent");
  for (const { vm } of workers) vm.answerHttpCall(call, headers, body);
}

describe("a ramp that gets no request", () => {
  test("is fed by one probe at a time over all workers, and closes by them", () => {
    assert.equal(tickAll(idleMs - 1_000).length, 0);
    for (let count = 0; count < 3; count++) {
      const calls = tickAll(idleMs);
      assert.equal(calls.length, 1);
      assert.equal(gpu().permits, 1);
      answer(calls[0], jsonHead, completion);
      assert.equal(gpu().permits, 0);
    }
    assert.equal(gpu().state, "CLOSED");
    assert.equal(tickAll(idleMs).length, 0);
  });

  test("opens again when such a probe fails", () => {
    answer(tickAll(idleMs)[0], { ":status": "500" }, "no");
    assert.equal(gpu().state, "OPEN");
    assert.equal(gpu().permits, 0);
  });
});
