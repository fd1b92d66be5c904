import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "./support/simulation.js";

const BEGINS_MS = 10_000;

/** The first `count` gateways see failures for a while. */
function failing(count: number, untilMs = Number.POSITIVE_INFINITY) {
  return (gateway: string, now: number) =>
    now >= BEGINS_MS && now < untilMs && Number(gateway.slice(1)) < count;
}

const openCount = (simulation: Simulation): number =>
  simulation.states().filter((state) => state !== "CLOSED").length;

/** Runs until so many are not CLOSED; virtual milliseconds. */
function timeUntilOpen(simulation: Simulation, count: number): number {
  for (let ms = 0; ms <= 10_000; ms += 50) {
    if (openCount(simulation) >= count) return ms;
    simulation.run(50);
  }
  return Number.POSITIVE_INFINITY;
}

test("more than half open on their own evidence: all are open within 2.5 s", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const loss = seed % 2 === 0 ? 0.2 : 0;
    const simulation = new Simulation({ seed, gateways: 7, loss, isFailing: failing(4) });
    simulation.run(BEGINS_MS);
    assert.equal(openCount(simulation), 0);
    timeUntilOpen(simulation, 4);
    const ms = timeUntilOpen(simulation, 7);
    assert.ok(ms <= 2500, `seed ${seed}: ${ms} ms`);
  }
});

for (const [gateways, count] of [
  [7, 3],
  [6, 3],
  [2, 1],
] as const) {
  test(`${count} of ${gateways} are open for themselves only, also while every fifth message is lost`, () => {
    for (let seed = 1; seed <= 5; seed++) {
      const simulation = new Simulation({ seed, gateways, loss: 0.2, isFailing: failing(count) });
      simulation.run(60_000);
      assert.deepEqual(simulation.states().slice(count), Array(gateways - count).fill("CLOSED"));
      assert.equal(openCount(simulation), count);
      assert.deepEqual(simulation.backend.faults, []);
    }
  });
}
