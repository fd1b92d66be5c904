import { phaseName, readDiagram, way } from "../diagram.js";
import { settings } from "../policy.js";
import { Cause, State } from "../record/names.js";
import type { Counts, HistoryEntry, Snapshot } from "../record/snapshot.js";
import { Violation } from "./violation.js";

export const rules = {
  totals: "totals are the sum of the buckets",
  generation: "the generation grows by one with each transition, and with nothing else",
  diagram: "every transition is in the state diagram",
  history: "the history has each transition once, in order, up to the present state",
  told: "all who are told one generation are told one state",
  closedDoor: "only a ramp gives permits",
  cap: "canaries keep to their stage's cap",
  oneProbe: "one probe at a time",
  permits: "a permit is held by one request, or comes back in its time",
  clock: "the record's clock goes neither back nor ahead",
  gauge: "the gauge tells how the record is",
  model: "the record is what the model says",
  answer: "the answer is what the model says",
  overwritten: "no write goes over one that it has not seen",
  lost: "no update is lost but by sixteen lost races",
} as const;

const causeNames = new Map<number, string>(
  Object.entries(Cause).map(([name, cause]) => [
    cause,
    name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase(),
  ]),
);
let diagram: ReadonlySet<string> | undefined;

export const liveAt = ({ permits }: Snapshot, nowMs: number) =>
  permits.filter(({ deadlineMs }) => deadlineMs > nowMs);

/** What holds of any write, whatever the record was written for. Gives what does not. */
export function violationOfWrite(before: Snapshot, after: Snapshot, nowMs: number): Violation | undefined {
  return (
    violationOfTotals(after) ??
    violationOfClock(before, after, nowMs) ??
    violationOfMove(before, after) ??
    violationOfHistory(after) ??
    violationOfPermits(before, after)
  );
}

function violationOfTotals({ totals, sums }: Snapshot): Violation | undefined {
  const wrong = (Object.keys(totals) as (keyof Counts)[]).find((key) => totals[key] !== sums[key]);
  return wrong && new Violation(rules.totals, `${totals[wrong]} ${wrong}, in the buckets ${sums[wrong]}`);
}

function violationOfClock(before: Snapshot, after: Snapshot, nowMs: number): Violation | undefined {
  if (after.clockMs >= before.clockMs && after.clockMs <= nowMs) return undefined;
  return new Violation(rules.clock, `${before.clockMs}, then ${after.clockMs} at ${nowMs}`);
}

function violationOfMove(before: Snapshot, after: Snapshot): Violation | undefined {
  const isMoved =
    before.state !== after.state ||
    before.stage !== after.stage ||
    before.stateSinceMs !== after.stateSinceMs;
  const grown = after.generation - before.generation;
  if (grown !== 0 && grown !== 1) return new Violation(rules.generation, `it grew by ${grown}`);
  if (isMoved && grown === 0) return new Violation(rules.generation, "it stayed");
  if (grown === 0) return undefined;
  diagram ??= readDiagram();
  const step = wayOf(before, after);
  return diagram.has(step) ? undefined : new Violation(rules.diagram, step);
}

/** A transition as the state diagram calls it. */
export function wayOf(before: Snapshot, after: Snapshot): string {
  const cause = causeNames.get(after.lastCause) ?? String(after.lastCause);
  return way(phaseName(before.state, before.stage), phaseName(after.state, after.stage), cause);
}

function violationOfHistory({
  history,
  generation,
  state,
  stage,
  lastCause,
}: Snapshot): Violation | undefined {
  const newest = history.at(-1);
  if (!newest) return generation === 1 ? undefined : new Violation(rules.history, "it is empty");
  const isPresent = newest.generation === generation && newest.to === state;
  if (!isPresent || newest.stage !== stage || newest.cause !== lastCause)
    return new Violation(rules.history, `its newest is ${JSON.stringify(newest)}`);
  const wrong = history.findIndex((entry, index) => index > 0 && !follows(entry, history[index - 1]));
  return wrong < 0 ? undefined : new Violation(rules.history, JSON.stringify(history.slice(wrong - 1)));
}

function follows(entry: HistoryEntry, before: HistoryEntry | undefined): boolean {
  if (!before) return true;
  const isNext = entry.generation === before.generation + 1 && entry.from === before.to;
  return isNext && entry.atMs >= before.atMs;
}

function violationOfPermits(before: Snapshot, after: Snapshot): Violation | undefined {
  const known = new Set(before.permits.map(({ id }) => id));
  const taken = after.permits.filter(({ id }) => !known.has(id));
  if (taken.length === 0) return undefined;
  const isInRamp = before.state === State.halfOpen && before.stage > 0;
  if (!isInRamp || taken.length > 1)
    return new Violation(rules.closedDoor, `${taken.length} in ${phaseName(before.state, before.stage)}`);
  const cap = settings.stages[before.stage - 1]?.maxConcurrent ?? 0;
  const live = liveAt(after, after.clockMs).length;
  return live <= cap ? undefined : new Violation(rules.cap, `${live} permits of ${cap}`);
}
