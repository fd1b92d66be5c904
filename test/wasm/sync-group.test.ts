import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { readRecord } from "./backend-record.js";
import { World } from "./host/world.js";
import { badRequest, openGpu, recoverToRamp } from "./recovery.js";
import { SyncedProcess } from "./synced-process.js";

let world: World;
let process: SyncedProcess;

beforeEach(() => {
  world = new World();
  process = new SyncedProcess(world);
});

const state = () => readRecord(world, "gpu").state;

describe("in a group", () => {
  const other = { group: { rampShare: 0, live: 7, evidence: 4 } };

  test("a backend is probed only by the gateway with the lease, and while it lasts", () => {
    openGpu(world, process.worker);
    process.hear(other);
    process.wait(4_000);
    assert.equal(probes(), 0);
    process.hear({ group: { mayProbeMs: 2_000, live: 7, evidence: 4 } });
    process.tick();
    assert.equal(probes(), 1);
  });

  test("a lease that is over is none", () => {
    openGpu(world, process.worker);
    process.service.takeCalls();
    process.tick(1_000);
    const call = process.nextCall();
    world.clock.advance(500);
    process.service.answer(call, [{ name: "gpu", group: { mayProbeMs: 400, live: 7 } }]);
    process.wait(4_000);
    assert.equal(probes(), 0);
  });

  test("a gateway that was cut off stands alone after 30 s", () => {
    openGpu(world, process.worker);
    process.hear(other);
    process.wait(29_500);
    assert.equal(probes(), 0);
    process.wait(1_000);
    assert.equal(probes(), 1);
  });

  test("a gateway without a share of the ramp has no canary, and its callers are served elsewhere", () => {
    recoverToRamp(world, process.worker);
    process.hear(other);
    assert.equal(process.servedBy(badRequest), "small");
    process.wait(25_000);
    assert.equal(probes(), 1, "the one that opened the ramp, and none of an idle one");
    process.hear({ group: { rampShare: 1, live: 7 } });
    assert.equal(process.servedBy(badRequest), "gpu");
  });

  const probes = () => world.httpCalls.filter(({ cluster }) => cluster === "gpu").length;
});

describe("a move", () => {
  const move = { version: 3, to: "OPEN", openings: 2, waitMs: 8_000, cause: 17, isForAll: true };

  test("opens a closed backend once, at its generation", () => {
    process.hear({ move: { ...move, expectedGeneration: 2 } });
    assert.equal(state(), "CLOSED", "another generation");
    process.hear({ move: { ...move, expectedGeneration: 1 } });
    assert.equal(state(), "OPEN");
    assert.equal(process.servedBy(), "small");
    process.tick(1_000);
    process.nextCall();
    const { track, isEvidence, openings, cause, transitions } = process.service.report("gpu");
    assert.deepEqual([track, isEvidence, openings, cause], [3, false, 2, 17]);
    assert.deepEqual(
      transitions.map(({ from, to, generation }) => [from, to, generation]),
      [["CLOSED", "OPEN", 2]],
    );
    process.hear({ acknowledgedGeneration: 2 });
    process.tick(1_000);
    process.nextCall();
    assert.deepEqual(process.service.report("gpu").transitions, []);
  });

  test("closes an open backend for its callers at once, whatever wait a worker remembers", () => {
    openGpu(world, process.worker);
    assert.equal(process.servedBy(), "small");
    const { generation } = readRecord(world, "gpu");
    const close = { version: 4, expectedGeneration: generation, to: "CLOSED", cause: 20, isForAll: true };
    process.hear({ move: close });
    assert.equal(state(), "CLOSED");
    assert.equal(process.servedBy(), "gpu");
  });

  test("of the group's probe begins the ramp here, too", () => {
    openGpu(world, process.worker);
    const { generation } = readRecord(world, "gpu");
    process.hear({
      move: { version: 4, expectedGeneration: generation, to: "HALF_OPEN", stage: 1, cause: 18 },
    });
    assert.equal(state(), "HALF_OPEN");
    assert.equal(process.servedBy(badRequest), "gpu", "a canary");
  });
});
