import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readRecord } from "./backend-record.js";
import { seededRandom } from "./host/random.js";
import { World } from "./host/world.js";
import { neverOpens, opensOn, policyWith } from "./policy.js";
import { recoverToRamp } from "./recovery.js";
import { type BackendAnswer, Worker } from "./worker.js";

const workerCount = 16;
const outcomes = 64;
const onlyPrimary = { tiers: ["gpu"], maxAttempts: 1 };
const failure: BackendAnswer = { status: 500, headers: { "content-type": "text/plain" }, body: ["no"] };

/**
 * Runs `work` on other workers in the moment between a worker's read and its write, as real threads would. Nested work
 * may be interrupted as well, up to `depth` workers deep.
 */
function interleave(world: World, chance: number, random: () => number, work: () => void): void {
  const maxDepth = 4;
  let depth = 0;
  world.shared.afterGet = (key) => {
    if (depth >= maxDepth || !key.startsWith("llm.breaker/backend/") || random() >= chance) return;
    depth++;
    work();
    depth--;
  };
}

/** A backend's failures from many workers that start at the same moment, each in the middle of another's update. */
function coldStart(seed: number): { world: World; workers: Worker[]; sent: number } {
  const random = seededRandom(seed);
  const world = new World(undefined, seed);
  const policy = policyWith(opensOn(outcomes), onlyPrimary);
  const workers: Worker[] = [];
  let starting = 0;
  let sent = 0;
  const fail = (worker: Worker): void => {
    if (sent >= outcomes) return;
    sent++;
    worker.send({ answer: () => failure });
  };
  const startOrFail = (): void => {
    if (starting < workerCount && random() < 0.5) {
      starting++;
      workers.push(new Worker(world, policy));
      return;
    }
    const worker = workers[Math.floor(random() * workers.length)];
    if (worker) fail(worker);
  };
  interleave(world, 0.4, random, startOrFail);
  while (workers.length < workerCount || sent < outcomes) startOrFail();
  world.shared.afterGet = undefined;
  return { world, workers, sent };
}

describe("WASM-2: outcomes from many workers at once", () => {
  test("twenty cold starts in a row lose none of 64 failures, and the breaker opens", () => {
    let mismatches = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const { world, workers, sent } = coldStart(seed);
      const record = readRecord(world, "gpu");
      for (const worker of workers) worker.flushCounters();
      assert.equal(sent, outcomes);
      assert.equal(record.state, "OPEN", `seed ${seed}: ${record.failures} failures were kept`);
      assert.equal(world.metrics.value("llm_breaker.gpu.outcome.failure"), outcomes);
      assert.equal(world.metrics.value("llm_breaker.gpu.opened"), 1);
      assert.equal(world.metrics.value("llm_breaker.gpu.lost_updates"), 0);
      for (const worker of workers)
        assert.equal(worker.send().localReply?.status, 503, "every worker refuses at once");
      const complaints = workers.flatMap((worker) => worker.vm.logs).filter(({ level }) => level >= 4);
      assert.deepEqual(complaints, [], "a lost race is no error");
      mismatches += world.shared.mismatches;
    }
    assert.ok(
      mismatches > 100,
      `only ${mismatches} races were lost: the workers did not get in each other's way`,
    );
  });

  test("one failure fewer does not open it, and all of them are in the window", () => {
    for (let seed = 1; seed <= 10; seed++) {
      const world = new World(undefined, seed);
      const policy = policyWith(opensOn(outcomes), onlyPrimary);
      const workers = Array.from({ length: workerCount }, () => new Worker(world, policy));
      const random = seededRandom(seed);
      let sent = 0;
      const fail = (): void => {
        if (sent >= outcomes - 1) return;
        sent++;
        workers[Math.floor(random() * workerCount)]?.send({ answer: () => failure });
      };
      interleave(world, 0.5, random, fail);
      while (sent < outcomes - 1) fail();
      const record = readRecord(world, "gpu");
      assert.deepEqual([record.state, record.failures, record.successes], ["CLOSED", outcomes - 1, 0]);
    }
  });

  test("compare-and-swaps that fail at random cost retries, not outcomes", () => {
    const world = new World();
    const random = seededRandom(7);
    const policy = policyWith(neverOpens, onlyPrimary);
    const workers = Array.from({ length: workerCount }, () => new Worker(world, policy));
    world.shared.refuses = () => random() < 0.3;
    for (let count = 0; count < 2000; count++) workers[count % workerCount]?.send({ answer: () => failure });
    assert.equal(readRecord(world, "gpu").failures, 2000);
    assert.ok(world.shared.mismatches > 500);
    assert.equal(world.metrics.value("llm_breaker.gpu.lost_updates"), 0);
  });

  test("successes that the tick files are filed whole when its first write is refused", () => {
    const world = new World();
    const random = seededRandom(9);
    const workers = Array.from({ length: workerCount }, () => new Worker(world, policyWith()));
    for (let count = 0; count < 640; count++) workers[count % workerCount]?.send();
    world.shared.refuses = () => random() < 0.5;
    for (const worker of workers) worker.fileSuccesses();
    world.shared.refuses = undefined;
    assert.equal(readRecord(world, "gpu").successes, 640);
    assert.ok(world.shared.mismatches > 5);
    assert.equal(world.metrics.value("llm_breaker.gpu.lost_updates"), 0);
  });

  test("an update that can't get through is given up after a bounded number of tries, and counted", () => {
    const world = new World();
    const worker = new Worker(world, policyWith({}, onlyPrimary));
    world.shared.refuses = () => true;
    worker.send({ answer: () => failure });
    assert.ok(world.shared.mismatches <= 32, `${world.shared.mismatches} tries`);
    worker.flushCounters();
    assert.equal(world.metrics.value("llm_breaker.gpu.lost_updates"), 1);
  });

  test("of many workers that all draw a canary at the same moment only as many as permitted get one", () => {
    const world = new World();
    const ramp = [{ percent: 100, maxConcurrent: 2, successes: 5 }];
    const policy = policyWith({ ramp, waitDurationInOpenState: "1s" }, { tiers: ["gpu", "small"] });
    const workers = Array.from({ length: 8 }, () => new Worker(world, policy));
    recoverToRamp(world, workers[0] as Worker);
    const random = seededRandom(3);
    let running = 0;
    let peak = 0;
    let sent = 0;
    const canary = (): void => {
      if (sent >= 200) return;
      sent++;
      workers[sent % 8]?.send({
        answer: (cluster) => {
          if (cluster !== "gpu") return { status: 400, body: ["{}"] };
          running++;
          peak = Math.max(peak, running);
          // While this canary is at the backend the others come.
          if (peak < 4 && random() < 0.9) for (let more = 0; more < 5; more++) canary();
          running--;
          return { status: 400, body: ["{}"] };
        },
      });
    };
    interleave(world, 0.2, random, canary);
    while (sent < 200) canary();
    assert.equal(peak, 2);
    assert.equal(readRecord(world, "gpu").permits, 0);
    assert.equal(readRecord(world, "gpu").state, "HALF_OPEN");
  });
});
