import { monotonicMs } from "../../demo/clock.js";
import { type Check, check } from "../faults/checks.js";
import type { Fleet } from "./fleet.js";
import type { Engine } from "./gateway-config.js";
import { lawChecks } from "./laws.js";

/** Milliseconds and counts by what they tell. */
export type Figures = Record<string, number>;

export interface Scenario {
  readonly name: string;
  readonly what: string;
  readonly engines: readonly Engine[];
  /** Each side of a partition has a prober of its own; the laws are then the scenario's to check. */
  readonly isSplit?: boolean;
  run(fleet: Fleet, trial: Trial): Promise<void>;
}

/** What a scenario finds. */
export class Trial {
  readonly startMs = monotonicMs();
  readonly figures: Figures = {};
  readonly checks: Check[] = [];

  get seconds(): number {
    return Math.round((monotonicMs() - this.startMs) / 100) / 10;
  }

  note(name: string, value: number): void {
    this.figures[name] = Math.round(value);
  }

  check(name: string, passed: boolean, detail: string): void {
    this.checks.push(check(name, passed, detail));
  }

  /** The same with the figure that it is judged by. */
  atMost(name: string, value: number, most: number): void {
    this.note(name, value);
    this.check(`${name} at most ${most}`, value <= most, `${Math.round(value)}`);
  }

  exactly(name: string, value: number, wanted: number): void {
    this.note(name, value);
    this.check(`${name} is ${wanted}`, value === wanted, `${value}`);
  }
}

export interface Result {
  readonly scenario: string;
  readonly engine: Engine | "none";
  readonly seconds: number;
  readonly figures: Figures;
  readonly checks: readonly Check[];
}

/** One that can't be played to its end is a failed check, and the others are still played. */
export async function play(scenario: Scenario, fleet: Fleet): Promise<Result> {
  await fleet.calmDown();
  const trial = new Trial();
  try {
    await scenario.run(fleet, trial);
  } catch (error) {
    trial.check(
      "it could be played to its end",
      false,
      error instanceof Error ? error.message : String(error),
    );
  }
  lawChecks(fleet, trial, scenario.isSplit ?? false);
  const { figures, checks, seconds } = trial;
  return { scenario: scenario.name, engine: fleet.meeting.engine, seconds, figures, checks };
}
