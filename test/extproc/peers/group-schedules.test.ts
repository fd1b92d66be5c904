import assert from "node:assert/strict";
import { test } from "node:test";
import { phaseOf } from "../../../extproc/peers/version.js";
import { runSchedule } from "./support/schedule.js";
import { Simulation } from "./support/simulation.js";

// More of them: LLM_BREAKER_SCHEDULES=5000.
const SCHEDULES = Number(process.env.LLM_BREAKER_SCHEDULES ?? 60);

test("whatever is lost, dies or is cut off: one probe, no canary over the cap, and all CLOSED in the end", () => {
  let probes = 0;
  let canaries = 0;
  for (let seed = 1; seed <= SCHEDULES; seed++) {
    const { simulation, agreedAfterMs, log } = runSchedule(seed);
    const context = `seed ${seed}: ${log.join("; ")}`;
    assert.deepEqual(simulation.backend.faults, [], context);
    assert.notEqual(agreedAfterMs, undefined, `${context}: ${simulation.states()}`);
    probes += simulation.backend.probesSent;
    canaries = Math.max(canaries, simulation.backend.mostCanaries);
  }
  assert.ok(probes > SCHEDULES);
  assert.ok(canaries > 1);
});

/** All services know one word, and every gateway goes by it, or is just probing for all. */
function isOfOneMind(simulation: Simulation): boolean {
  const [version, ...others] = new Set(simulation.versions());
  if (version === undefined || others.length > 0) return false;
  const phase = phaseOf(version);
  return simulation.envoys.every(({ record: { state, stage } }) => {
    return state === phase || (state === "HALF_OPEN" && stage === 0 && phase === "OPEN");
  });
}

function timeUntilOneMind(simulation: Simulation): number {
  for (let ms = 0; ms < 20_000; ms += 100) {
    if (isOfOneMind(simulation)) return ms;
    simulation.run(100);
  }
  return Number.POSITIVE_INFINITY;
}

test("five seconds after healing all are of one mind again", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const isFailing = (_: string, now: number) => now > 8000;
    const loss = seed % 2 ? 0.2 : 0;
    const options = { seed, gateways: 7, loss, isFailing, offsetMs: 30_000, rate: 0.01 };
    const simulation = new Simulation(options).run(6000 + seed * 300);
    simulation.divide(3);
    simulation.run(10_000 + seed * 700);
    simulation.heal();
    const ms = timeUntilOneMind(simulation);
    assert.ok(ms <= 5000, `seed ${seed}: ${ms} ms`);
  }
});

test("what one side has opened for itself stays with those who have seen it fail", () => {
  for (let seed = 1; seed <= 4; seed++) {
    const isFailing = (gateway: string, now: number) => now > 8000 && Number(gateway.slice(1)) < 2;
    const simulation = new Simulation({ seed, gateways: 7, isFailing }).run(7000);
    simulation.divide(3);
    simulation.run(8000);
    assert.notEqual(simulation.states()[2], "CLOSED");
    assert.deepEqual(simulation.states().slice(3), Array(4).fill("CLOSED"));
    simulation.heal();
    for (let ms = 0; ms < 60_000; ms += 250) {
      assert.deepEqual(simulation.states().slice(3), Array(4).fill("CLOSED"));
      simulation.run(250);
    }
  }
});

test("what was closed on both sides stays closed", () => {
  const isFailing = (gateway: string, now: number) =>
    now > 8000 && now < 12_000 && Number(gateway.slice(1)) < 5;
  const simulation = new Simulation({ seed: 3, gateways: 7, isFailing }).run(14_000);
  simulation.divide(3);
  simulation.run(120_000);
  assert.deepEqual(new Set(simulation.states()), new Set(["CLOSED"]));
  simulation.heal();
  for (let ms = 0; ms < 30_000; ms += 250) {
    simulation.run(250);
    assert.deepEqual(new Set(simulation.states()), new Set(["CLOSED"]));
  }
});
