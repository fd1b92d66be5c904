import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { readRecord } from "./backend-record.js";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { type BackendAnswer, Worker } from "./worker.js";

const failure: BackendAnswer = { status: 500, body: ["no"] };
const opensAtOnce = { failureCountThreshold: 1 };
const onlyPrimary = { tiers: ["gpu"], maxAttempts: 1 };
const clusters = ({ attempts }: { attempts: readonly { cluster: string }[] }): string[] =>
  attempts.map(({ cluster }) => cluster);

let world: World;

beforeEach(() => {
  world = new World();
});

describe("what goes well is filed by the tick", () => {
  test("successes change the record with the tick, all at once; the first tells that they may wait", () => {
    const worker = new Worker(world, policyWith({}, onlyPrimary));
    for (let count = 0; count < 7; count++) worker.send();
    assert.equal(readRecord(world, "gpu").successes, 1);
    worker.fileSuccesses();
    assert.equal(readRecord(world, "gpu").successes, 7);
    worker.fileSuccesses();
    assert.equal(readRecord(world, "gpu").successes, 7);
  });

  test("a success ends other workers' failures in a row at once", () => {
    const policy = policyWith({ consecutiveFailuresThreshold: 3, failureRateThreshold: 0 }, onlyPrimary);
    const [unlucky, other] = [new Worker(world, policy), new Worker(world, policy)];
    for (let count = 0; count < 9; count++) {
      unlucky.send({ answer: () => failure });
      other.send();
    }
    assert.equal(readRecord(world, "gpu").state, "CLOSED");
    for (let count = 0; count < 3; count++) unlucky.send({ answer: () => failure });
    assert.equal(readRecord(world, "gpu").state, "OPEN");
  });

  test("those from before another worker's failures don't end them when the tick files them", () => {
    const policy = policyWith({ consecutiveFailuresThreshold: 3, failureRateThreshold: 0 }, onlyPrimary);
    const [unlucky, other] = [new Worker(world, policy), new Worker(world, policy)];
    for (let count = 0; count < 4; count++) other.send();
    for (let count = 0; count < 2; count++) unlucky.send({ answer: () => failure });
    other.fileSuccesses();
    assert.equal(readRecord(world, "gpu").successes, 4);
    unlucky.send({ answer: () => failure });
    assert.equal(readRecord(world, "gpu").state, "OPEN");
  });

  test("a failure is judged beside the successes before it, and ends no streak that they have broken", () => {
    const half = { minimumNumberOfCalls: 4, failureRateThreshold: 60, consecutiveFailuresThreshold: 2 };
    const worker = new Worker(world, policyWith(half, onlyPrimary));
    for (let count = 0; count < 4; count++) {
      worker.send();
      worker.send({ answer: () => failure });
    }
    const { state, successes, failures } = readRecord(world, "gpu");
    assert.deepEqual([state, successes, failures], ["CLOSED", 4, 4]);
    worker.send({ answer: () => failure });
    assert.equal(readRecord(world, "gpu").state, "OPEN");
  });

  test("those of an earlier generation are late, each of them", () => {
    const worker = new Worker(world, policyWith(opensAtOnce, onlyPrimary));
    const other = new Worker(world, policyWith(opensAtOnce, onlyPrimary));
    for (let count = 0; count < 4; count++) worker.send();
    other.send({ answer: () => failure });
    worker.fileSuccesses();
    worker.flushCounters();
    assert.equal(readRecord(world, "gpu").successes, 1);
    worker.fileSuccesses();
    assert.equal(world.metrics.value("llm_breaker.gpu.outcome.late"), 3);
  });
});

describe("a Closed backend's record is read once a tick", () => {
  test("an admission of the same quarter of a second reads no shared data", () => {
    const worker = new Worker(world, policyWith());
    worker.send();
    worker.vm.hostCalls.clear();
    worker.send();
    assert.equal(worker.vm.hostCalls.get("proxy_get_shared_data"), undefined);
    assert.equal(worker.vm.hostCalls.get("proxy_get_metric"), 2);
    world.clock.advance(250);
    worker.send();
    assert.equal(worker.vm.hostCalls.get("proxy_get_shared_data"), 1);
  });

  test("an opening by another worker is seen by the very next request", () => {
    const policy = policyWith(opensAtOnce, { tiers: ["gpu", "small"], maxAttempts: 1 });
    const [first, second] = [new Worker(world, policy), new Worker(world, policy)];
    assert.deepEqual(clusters(first.send()), ["gpu"]);
    second.send({ answer: () => failure });
    assert.deepEqual(clusters(first.send()), ["small"]);
  });

  test("so it is where Envoy drops the gauge, as a stats matcher makes it", () => {
    const policy = policyWith(opensAtOnce, { tiers: ["gpu", "small"], maxAttempts: 1 });
    world.metrics.byId = () => 0n;
    const [first, second] = [new Worker(world, policy), new Worker(world, policy)];
    assert.deepEqual(clusters(first.send()), ["gpu"]);
    second.send({ answer: () => failure });
    assert.deepEqual(clusters(first.send()), ["small"]);
  });

  test("a gauge that tells of an earlier state is believed for no longer than a quarter of a second", () => {
    const policy = policyWith(opensAtOnce, { tiers: ["gpu", "small"], maxAttempts: 1 });
    const [first, second] = [new Worker(world, policy), new Worker(world, policy)];
    first.send();
    second.send({ answer: () => failure });
    const gauge = world.metrics.define("llm_breaker.gpu.steady", 1);
    world.metrics.record(gauge, 2n);
    world.clock.advance(250);
    assert.deepEqual(clusters(first.send()), ["small"]);
  });
});
