import { subtractSaturating } from "./arithmetic";
import { BackendRecord, HISTORY_SIZE, historyAt, Transition } from "./record";
import { State } from "./state";
import { advanceWindow } from "./window";

/*
 * The last transitions, each at the place that its generation names: as every transition is one generation more, the newest
 * takes the oldest's place, and nothing else has to be kept. A fresh record's first generation has no transition.
 */

/** Writes down the transition that the record has just made, with its window as it is now. */
export function remember(record: BackendRecord, from: i32, now: u64): void {
  advanceWindow(record, now);
  const transition = historyAt(record, record.generation);
  transition.atMs = now;
  transition.waitMs = record.state === State.OPEN ? subtractSaturating(record.openUntilMs, now) : 0;
  transition.generation = record.generation;
  transition.from = from;
  transition.to = record.state;
  transition.stage = record.stage;
  transition.cause = record.lastCause;
  transition.openings = record.openings;
  transition.calls = record.totalCalls;
  transition.weightedFailures = record.totalWeightedFailures;
  transition.consecutiveFailures = record.consecutiveFailures;
}

/** The transition to a generation, or null when it is not (any more) remembered. O(1). */
export function transitionTo(record: BackendRecord, generation: u32): Transition | null {
  const transition = historyAt(record, generation);
  return generation !== 0 && transition.generation === generation ? transition : null;
}

/** After a step of the clock: see `advanceClock`. */
export function shiftHistory(record: BackendRecord, stepMs: u64): void {
  for (let i = 0; i < HISTORY_SIZE; i++) {
    const transition = historyAt(record, i);
    transition.atMs = subtractSaturating(transition.atMs, stepMs);
  }
}
