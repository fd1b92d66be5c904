import { Lane, type Lap, race } from "./lap.js";
import type { Racer } from "./racer.js";
import type { Scenario } from "./scenario.js";
import { planCalls } from "./schedule.js";
import { type Score, score } from "./score.js";

const seed = 20;

export interface Heat {
  readonly scenario: Scenario;
  readonly laps: readonly Lap[];
  readonly scores: readonly Score[];
}

/** One scenario with all racers, at the same time unless the load wants the machine for itself. */
export async function runScenario(
  scenario: Scenario,
  racers: readonly Racer[],
  modules: string,
): Promise<Heat> {
  const groups = scenario.oneByOne ? racers.map((racer) => [racer]) : [racers];
  const planned = planCalls(scenario.callers, scenario.seconds, seed);
  const laps: Lap[] = [];
  for (const group of groups) {
    const lanes: Lane[] = [];
    try {
      for (const racer of group) lanes.push(await Lane.prepare(racer, scenario, modules, seed));
      laps.push(...(await race(lanes, planned)));
    } finally {
      await Promise.all(lanes.map((lane) => lane.stop()));
    }
  }
  return { scenario, laps, scores: laps.map((lap) => score(scenario, lap)) };
}
