import type { Settings, Stage } from "../policy.js";
import { Cause, late, Mode, Outcome, reported, State } from "../record/names.js";
import type { Counts } from "../record/snapshot.js";
import type { Operation, Orders } from "./operation.js";
import { close, enter, heedRetryAfter, isInRamp, livePermits, open, type Reference } from "./state.js";
import { add, advance, totalOf } from "./window.js";

/** What an operation makes of the record, and what it answers. */
export interface Result {
  readonly next: Reference;
  readonly answer: number;
}

type Ended = Extract<Operation, { kind: "outcome" }>;
type Successes = Extract<Operation, { kind: "successes" }>;
type FirstTokens = Extract<Operation, { kind: "firstTokens" }>;

export const isMoving = (mode: number): boolean => mode === Mode.enforce || mode === Mode.shadow;
const isFiling = (mode: number): boolean => isMoving(mode) || mode === Mode.forcedClosed;
const isFailure = (outcome: number): boolean => outcome >= Outcome.failure && outcome <= Outcome.outOfMemory;

const isWatched = ({ state }: Reference, { mode }: Orders): boolean =>
  state === State.closed || mode === Mode.forcedClosed;

export function onOutcome(
  from: Reference,
  ended: Ended,
  orders: Orders,
  nowMs: number,
  settings: Settings,
): Result {
  const { permit, outcome, retryAfterMs } = ended;
  const isDead = permit !== 0 && !livePermits(from, nowMs).some(({ id }) => id === permit);
  let next: Reference = { ...from, permits: from.permits.filter(({ id }) => id !== permit) };
  if (!isFiling(orders.mode)) return { next, answer: Cause.none };
  if (outcome === Outcome.backpressure && retryAfterMs > 0)
    next = heedRetryAfter(next, retryAfterMs, nowMs, settings);
  if (isDead || ended.generation !== from.generation) return { next, answer: late };
  if (isWatched(from, orders)) return fileCall(next, outcome, orders, nowMs, settings);
  return permit !== 0 && isInRamp(from)
    ? onCanary(next, outcome, orders, nowMs, settings)
    : { next, answer: Cause.none };
}

/** Of what has no permit: the answer where nothing is filed. */
function whyUnfiled(from: Reference, told: { readonly generation: number }, orders: Orders) {
  if (!isFiling(orders.mode)) return Cause.none;
  if (told.generation !== from.generation) return late;
  return isWatched(from, orders) ? undefined : Cause.none;
}

export function onSuccesses(
  from: Reference,
  told: Successes,
  orders: Orders,
  nowMs: number,
  settings: Settings,
): Result {
  const unfiled = whyUnfiled(from, told, orders);
  if (unfiled !== undefined) return { next: from, answer: unfiled };
  const streak = told.endsStreak ? 0 : from.streak;
  const window = add(advance(from.window, nowMs, settings.windowSeconds), { calls: told.calls });
  const tripped = tripsOf(totalOf(window), streak, Outcome.success, settings);
  return settle({ ...from, streak, window }, tripped, orders, nowMs, settings);
}

export function onFirstTokens(
  from: Reference,
  told: FirstTokens,
  orders: Orders,
  nowMs: number,
  settings: Settings,
): Result {
  const unfiled = whyUnfiled(from, told, orders);
  if (unfiled !== undefined) return { next: from, answer: unfiled };
  const window = add(advance(from.window, nowMs, settings.windowSeconds), {
    firstTokens: told.calls,
    slowCalls: told.slow,
  });
  const { firstTokens, slowCalls } = totalOf(window);
  const isSlow = isRate(slowCalls, firstTokens, settings.slowCallRate, settings);
  return settle({ ...from, window }, isSlow ? [Cause.slowCallRate] : [], orders, nowMs, settings);
}

/** The end of the ramp: its last canary, or the tick once nothing holds it any more. */
export function closeWhenPassed(
  from: Reference,
  { mode, isHeld }: Orders,
  nowMs: number,
  settings: Settings,
): Result {
  const isLast = isInRamp(from) && from.stage >= settings.stages.length;
  const isPassed = isLast && from.successes >= stageOf(from, settings).successes;
  if (!isMoving(mode) || !isPassed || isHeld) return { next: from, answer: Cause.none };
  return { next: close(from, Cause.rampComplete, nowMs, settings), answer: Cause.rampComplete };
}

export function stageOf({ stage }: Reference, { stages }: Settings): Stage {
  return stages[stage - 1] ?? { percent: 0, maxConcurrent: 0, successes: 1 };
}

function onCanary(
  from: Reference,
  outcome: number,
  orders: Orders,
  nowMs: number,
  settings: Settings,
): Result {
  const { canaryFailed } = Cause;
  if (isFailure(outcome)) return { next: open(from, canaryFailed, nowMs, settings), answer: canaryFailed };
  if (outcome !== Outcome.success) return { next: from, answer: Cause.none };
  const { successes } = stageOf(from, settings);
  const counted: Reference = { ...from, successes: Math.min(from.successes + 1, successes) };
  if (counted.successes < successes) return { next: counted, answer: Cause.none };
  if (from.stage >= settings.stages.length) return closeWhenPassed(counted, orders, nowMs, settings);
  const { stagePassed: cause } = Cause;
  return {
    next: enter(counted, { state: State.halfOpen, stage: from.stage + 1, cause }, nowMs, settings),
    answer: cause,
  };
}

function fileCall(
  from: Reference,
  outcome: number,
  orders: Orders,
  nowMs: number,
  settings: Settings,
): Result {
  const filed: Partial<Counts> = {
    ...(outcome <= Outcome.outOfMemory && { calls: 1 }),
    ...(isFailure(outcome) && { failures: 1 }),
    ...(outcome === Outcome.outOfMemory && { outOfMemory: 1 }),
    ...(outcome === Outcome.backpressure && { backpressure: 1 }),
  };
  const streak = streakAfter(from.streak, outcome);
  const window = add(advance(from.window, nowMs, settings.windowSeconds), filed);
  const tripped = outcome === Outcome.neutral ? [] : tripsOf(totalOf(window), streak, outcome, settings);
  return settle({ ...from, streak, window }, tripped, orders, nowMs, settings);
}

function streakAfter(streak: number, outcome: number): number {
  if (outcome === Outcome.success) return 0;
  return isFailure(outcome) ? streak + 1 : streak;
}

/** The most telling first. */
function tripsOf(totals: Counts, streak: number, outcome: number, settings: Settings): number[] {
  const asked = totals.calls + totals.backpressure;
  const isTripped: [number, boolean][] = [
    [Cause.backpressure, isRate(totals.backpressure, asked, settings.backpressureRate, settings)],
  ];
  if (outcome !== Outcome.backpressure) {
    isTripped.unshift(
      [Cause.engineFatal, outcome === Outcome.engineFatal],
      [Cause.outOfMemory, totals.outOfMemory >= settings.outOfMemory],
      [Cause.consecutiveFailures, streak >= settings.streak],
      [Cause.failureRate, isRate(totals.failures, totals.calls, settings.failureRate, settings)],
    );
  }
  return isTripped.filter(([, trips]) => trips).map(([cause]) => cause);
}

function isRate(part: number, all: number, percent: number, { minimumCalls }: Settings): boolean {
  return part > 0 && all >= minimumCalls && part * 100 >= percent * all;
}

/** A mode that moves opens by the first trigger; one that does not reports each once a window. */
function settle(
  from: Reference,
  tripped: readonly number[],
  { mode }: Orders,
  nowMs: number,
  settings: Settings,
): Result {
  const [first] = tripped;
  if (first === undefined) return { next: from, answer: Cause.none };
  if (isMoving(mode)) return { next: open({ ...from, quiet: {} }, first, nowMs, settings), answer: first };
  const loud = tripped.filter((cause) => (from.quiet[cause] ?? 0) <= nowMs);
  const quiet = { ...from.quiet };
  for (const cause of loud) quiet[cause] = nowMs + settings.windowSeconds * 1_000;
  return { next: { ...from, quiet }, answer: loud[0] === undefined ? Cause.none : loud[0] | reported };
}
