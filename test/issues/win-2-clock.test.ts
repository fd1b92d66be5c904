import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { readRecord } from "../wasm/backend-record.js";
import { World } from "../wasm/host/world.js";
import { policyWith } from "../wasm/policy.js";
import { badRequest } from "../wasm/recovery.js";
import { type BackendAnswer, Worker } from "../wasm/worker.js";

// The case's own numbers, for which real time would take minutes: 10 buckets of a second, 10 calls, 50 %.
const rules = {
  slidingWindowSize: 10,
  minimumNumberOfCalls: 10,
  failureRateThreshold: 50,
  consecutiveFailuresThreshold: 0,
};

let world: World;
let worker: Worker;

beforeEach(() => {
  world = new World();
  worker = new Worker(world, policyWith(rules));
});

const state = (): string => readRecord(world, "gpu").state;

function wait(elapsedMs: number): void {
  world.clock.advance(elapsedMs);
  worker.vm.tick(worker.meter);
}

function fail(times: number): void {
  const answer = (cluster: string): BackendAnswer =>
    cluster === "gpu" ? { status: 500, body: ["no"] } : badRequest;
  for (let call = 0; call < times; call++) worker.send({ answer });
}

test("WIN-2 (a): nine failures, 25 s of silence and one more are one failure in the window", () => {
  fail(9);
  wait(25_000);
  fail(1);
  assert.equal(state(), "CLOSED");
  assert.equal(readRecord(world, "gpu").failures, 1);
});

for (const gapMs of [999, 1_000, 1_001, 9_000]) {
  test(`WIN-2 (b): nine failures, and ${gapMs} ms later the tenth as the first of its bucket, open`, () => {
    fail(9);
    wait(gapMs);
    assert.equal(state(), "CLOSED");
    fail(1);
    assert.equal(state(), "OPEN");
  });
}

test("WIN-2 (c): five failures before and five after the window's first full turn open", () => {
  wait(9_900);
  fail(5);
  wait(200);
  fail(4);
  assert.equal(state(), "CLOSED");
  fail(1);
  assert.equal(state(), "OPEN");
});

test("WIN-2 (d): one failure every nine seconds for two minutes never opens, nor do they pile up", () => {
  for (let elapsedMs = 0; elapsedMs < 120_000; elapsedMs += 9_000) {
    fail(1);
    assert.ok(readRecord(world, "gpu").failures <= 2);
    wait(9_000);
  }
  assert.equal(state(), "CLOSED");
});
