import type { Plot } from "../report/section.js";
import type { Lap } from "./lap.js";
import type { Heat } from "./race.js";
import type { Scenario } from "./scenario.js";
import { type Moment, momentsOf } from "./score.js";

/** The scenario that is shown second by second. */
const shown = "outOfMemory";

/** Who served the callers of each second, and how many were served by nobody. */
export function timeLines(heats: readonly Heat[]): Plot[] {
  const heat = heats.find(({ scenario }) => scenario.name === shown);
  if (!heat) return [];
  const line = (name: string, title: string, y: string, count: (of: PerSecond) => number): Plot => ({
    ...{ name, title, kind: "lines", x: "s", y },
    series: heat.laps.map((lap) => ({
      name: lap.racer,
      points: secondsOf(heat.scenario, lap).map((second, x) => ({ x, y: count(second) })),
    })),
  });
  const { title } = heat.scenario;
  return [
    line("race-line-served", `${title}: callers served whole`, "%", ({ callers, served }) =>
      percent(served, callers),
    ),
    line("race-line-primary", `${title}: by the primary`, "%", ({ callers, byPrimary }) =>
      percent(byPrimary, callers),
    ),
    line(
      "race-line-hits",
      `${title}: requests that hit the primary`,
      "requests a second",
      ({ hits }) => hits,
    ),
  ];
}

interface PerSecond {
  callers: number;
  served: number;
  byPrimary: number;
  hits: number;
}

function secondsOf(scenario: Scenario, lap: Lap): PerSecond[] {
  const { callers, sick, byPrimary } = momentsOf(scenario, lap);
  const seconds = Array.from({ length: scenario.seconds }, () => ({
    callers: 0,
    served: 0,
    byPrimary: 0,
    hits: 0,
  }));
  const of = ({ at }: Moment): PerSecond | undefined => seconds[Math.floor(at)];
  for (const moment of callers) {
    const second = of(moment);
    if (!second) continue;
    second.callers++;
    if (!moment.caller.served) continue;
    second.served++;
    if (byPrimary.has(moment.caller.id)) second.byPrimary++;
  }
  for (const moment of sick) {
    const second = of(moment);
    if (second) second.hits++;
  }
  return seconds;
}

const percent = (part: number, whole: number): number =>
  whole === 0 ? 100 : Math.round((100 * part) / whole);
