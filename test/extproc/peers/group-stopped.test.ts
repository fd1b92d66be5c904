import assert from "node:assert/strict";
import { test } from "node:test";
import { randomOf } from "./support/event-queue.js";
import { Simulation } from "./support/simulation.js";

// More of them: LLM_BREAKER_SCHEDULES=5000.
const SCHEDULES = Number(process.env.LLM_BREAKER_SCHEDULES ?? 60);

test("services that stand still for a while and go on: one probe, no canary over the cap, and all CLOSED in the end", () => {
  for (let seed = 1; seed <= SCHEDULES; seed++) {
    const random = randomOf(seed ^ 0x57a1);
    const gateways = 2 + Math.floor(random() * 6);
    const isFailing = (_: string, now: number) => now > 8000 && now < 10_000 + seed * 10;
    const simulation = new Simulation({ seed, gateways, isFailing, pauseMs: 100 });
    for (let time = 0; time < 6; time++) {
      const index = Math.floor(random() * gateways);
      const ms = 500 + random() * 25_000;
      simulation.queue.after(8000 + random() * 22_000, () => simulation.freezeService(index, ms));
    }
    simulation.run(120_000);
    assert.deepEqual(simulation.backend.faults, [], `seed ${seed}`);
    assert.deepEqual(new Set(simulation.states()), new Set(["CLOSED"]), `seed ${seed}`);
  }
});
