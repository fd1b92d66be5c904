import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_WINDOW } from "../../../extproc/sync/blank.js";
import type { Second } from "../../../extproc/sync/contract.js";
import { EPOCH, SyncFleet } from "../support/sync-fleet.js";
import { report } from "../support/sync-messages.js";

function second(ageMs: number, calls: number): Second {
  const { consecutiveFailures, ...figures } = NO_WINDOW;
  return { ...figures, ageMs, calls };
}

function callsOf(fleet: SyncFleet): [number, number][] {
  return fleet.gateways.secondsOf("gpu").map(({ atMs, calls }) => [(atMs - EPOCH) / 1000, calls]);
}

test("sums the seconds of all gateways, each once", () => {
  const fleet = new SyncFleet();
  assert.deepEqual(fleet.gateways.secondsOf("gpu"), []);
  fleet.sync([report("gpu", { seconds: [second(3_000, 5), second(2_000, 7)] })]);
  fleet.pass(1_000);
  // The answer was lost: all are sent again, with the request's delay of another length.
  fleet.sync([report("gpu", { seconds: [second(4_003, 5), second(2_996, 7), second(2_000, 1)] })]);
  fleet.sync([report("gpu", { seconds: [second(3_000, 10)] })], { process: "bb" });
  assert.deepEqual(callsOf(fleet), [
    [997, 5],
    [998, 17],
    [999, 1],
  ]);
});

test("keeps one hour, and nothing of what is claimed to be older", () => {
  const fleet = new SyncFleet();
  fleet.now = 10_000_000;
  fleet.sync([report("gpu", { seconds: [second(4_000_000, 9), second(3_000_000, 1), second(0, 2)] })]);
  assert.deepEqual(callsOf(fleet), [
    [7_000, 1],
    [10_000, 2],
  ]);
  fleet.pass(600_000);
  assert.deepEqual(callsOf(fleet), [[10_000, 2]]);
  fleet.sync([report("gpu", { seconds: [second(0, 3)] })]);
  assert.deepEqual(callsOf(fleet), [
    [10_000, 2],
    [10_600, 3],
  ]);
  fleet.pass(3_600_000);
  assert.deepEqual(callsOf(fleet), []);
});

test("takes in what was before this service started", () => {
  const fleet = new SyncFleet();
  fleet.now = 1_500;
  fleet.sync([report("gpu", { seconds: [second(5_000, 4), second(4_000, 5), second(1_000, 6)] })]);
  assert.deepEqual(callsOf(fleet), [
    [-4, 4],
    [-3, 5],
    [0, 6],
  ]);
  fleet.sync([report("gpu", { seconds: [second(7_200_000, 9)] })], { process: "bb" });
  assert.equal(callsOf(fleet).length, 3);
});
