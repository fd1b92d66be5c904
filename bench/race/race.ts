import { machine } from "../machine.js";
import type { Measured } from "../report/section.js";
import { Lane, type Lap, race } from "./lap.js";
import type { Racer } from "./racer.js";
import { racers } from "./racers/all.js";
import type { Scenario } from "./scenario.js";
import { scenarios } from "./scenarios.js";
import { planCalls } from "./schedule.js";
import { type Score, score } from "./score.js";
import { sectionOf } from "./section.js";

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
      const prepared = group.map((racer) => Lane.prepare(racer, scenario, modules, seed));
      for (const lane of await Promise.allSettled(prepared))
        if (lane.status === "fulfilled") lanes.push(lane.value);
      await Promise.all(prepared);
      laps.push(...(await race(lanes, planned)));
    } finally {
      await Promise.all(lanes.map((lane) => lane.stop()));
    }
  }
  return { scenario, laps, scores: laps.map((lap) => score(scenario, lap)) };
}

export interface RaceSettings {
  /** Folder of the filter's modules. */
  readonly modules: string;
  /** Names; all when absent. */
  readonly scenarios?: readonly string[];
  readonly racers?: readonly string[];
  readonly say: (line: string) => void;
}

export async function measureRace(settings: RaceSettings): Promise<Measured> {
  const { modules, say } = settings;
  const chosen = racers.filter(({ name }) => settings.racers?.includes(name) ?? true);
  const able: Racer[] = [];
  const absent: string[] = [];
  for (const racer of chosen) {
    const reason = await racer.available();
    if (reason === undefined) able.push(racer);
    else absent.push(`${racer.name}: ${reason}`);
  }
  for (const line of absent) say(`absent: ${line}`);
  const heats: Heat[] = [];
  for (const scenario of scenarios.filter(({ name }) => settings.scenarios?.includes(name) ?? true)) {
    const heat = await runScenario(scenario, able, modules);
    heats.push(heat);
    const failures = heat.scores.map(({ racer, bareFailures }) => `${racer} ${bareFailures}`);
    say(`${scenario.name}, bare failures: ${failures.join(" · ")}`);
  }
  const raw = heats.map(({ scenario, scores, laps }) => ({
    scenario: scenario.name,
    scores,
    failures: Object.fromEntries(laps.map((lap) => [lap.racer, failuresOf(lap)])),
  }));
  return { raw: { heats: raw, machine: await machine() }, section: sectionOf(heats, able, absent) };
}

const failuresShown = 20;

/** What the first callers who were not served saw. */
function failuresOf({ callers, startMs }: Lap): object[] {
  return callers
    .filter(({ served }) => !served)
    .slice(0, failuresShown)
    .map(({ id, detail, startMs: at }) => ({ id, at: Number(((at - startMs) / 1000).toFixed(2)), detail }));
}
