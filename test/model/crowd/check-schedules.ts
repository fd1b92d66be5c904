import fc from "fast-check";
import type { CrowdOptions } from "./crowd.js";
import { begin, schedules } from "./schedule.js";
import { Violation } from "./violation.js";
import { Workers } from "./workers.js";

/** What many schedules have come to. */
export interface Coverage {
  runs: number;
  /** Calls of one worker within a call of another. */
  nested: number;
  /** Writes that were refused: somebody was faster, or the store said so. */
  races: number;
  /** Calls that gave up after too many lost races. */
  givenUp: number;
  /** Successes of several requests that were filed by one write. */
  batches: number;
  /** How often each way of the state diagram was gone. */
  readonly ways: Map<string, number>;
}

export interface Checked {
  readonly coverage: Coverage;
  /** The shortest schedule that breaks a rule, and how to see it again. */
  readonly failure: { readonly rule: string; readonly report: string } | undefined;
}

export interface CheckOptions {
  readonly runs: number;
  readonly seed: number;
  /** Of each run. */
  readonly crowd?: () => CrowdOptions;
  readonly isShrunk?: boolean;
  /** Where the records module lies, if it is not the repository's own. */
  readonly module?: string;
}

/** Runs so many random schedules on the record code, until one breaks a rule; that one is shrunk. */
export function checkSchedules({ runs, seed, crowd, isShrunk = true, module }: CheckOptions): Checked {
  const coverage: Coverage = { runs: 0, nested: 0, races: 0, givenUp: 0, batches: 0, ways: new Map() };
  let workers = new Workers(module);
  const property = fc.property(schedules, ([count, phase, commands]) => {
    const real = workers.crowd(count, crowd?.());
    try {
      begin(real, phase);
      fc.modelRun(() => ({ model: { workers: count }, real }), commands);
      real.rest();
      if (real.observer.fault) throw real.observer.fault;
    } catch (error) {
      // What was thrown through an instance has left its scratch memory as it was then.
      workers = new Workers(module);
      throw error;
    }
    addTo(coverage, real.observer);
  });
  const details = fc.check(property, { numRuns: runs, seed, endOnFailure: !isShrunk });
  return { coverage, failure: details.failed ? describe(details) : undefined };
}

function addTo(coverage: Coverage, run: Omit<Coverage, "runs">): void {
  coverage.runs++;
  coverage.nested += run.nested;
  coverage.races += run.races;
  coverage.givenUp += run.givenUp;
  coverage.batches += run.batches;
  for (const [way, count] of run.ways) coverage.ways.set(way, (coverage.ways.get(way) ?? 0) + count);
}

function describe<T extends readonly [number, number, Iterable<object>]>(
  details: fc.RunDetails<[T]>,
): Checked["failure"] {
  const [workers = 0, phase = 0, commands = []] = details.counterexample?.[0] ?? [];
  const error = details.errorInstance;
  const isViolation = error instanceof Violation;
  const message = error instanceof Error && !isViolation ? error.stack : error;
  const lines = [
    String(message),
    `seed ${details.seed}, path ${details.counterexamplePath}, run ${details.numRuns}, shrunk ${details.numShrinks} times`,
    `${workers} workers, from phase ${phase}:`,
    ...[...commands].map(String),
  ];
  return { rule: isViolation ? error.rule : String(message), report: lines.join("\n") };
}
