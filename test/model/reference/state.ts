import type { Settings } from "../policy.js";
import { Cause, State } from "../record/names.js";
import type { HeldPermit } from "../record/snapshot.js";
import { advance, emptyWindow, type Window } from "./window.js";

/** The breaker as docs/concepts.md tells of it, in plain values; never changed in place. */
export interface Reference {
  readonly clockMs: number;
  readonly state: number;
  readonly stage: number;
  readonly generation: number;
  readonly sinceMs: number;
  /** The wait's end lies between the two: how long its jitter is, is the record's to say. */
  readonly openUntilMs: readonly [earliest: number, latest: number];
  readonly openings: number;
  readonly cause: number;
  readonly streak: number;
  readonly successes: number;
  readonly track: number;
  readonly lastCanaryMs: number;
  readonly probe: { readonly owner: number; readonly leaseUntilMs: number };
  /** Dead ones are left out when the next is taken. */
  readonly permits: readonly HeldPermit[];
  readonly lastPermit: number;
  readonly retryAfter: { readonly untilMs: number; readonly toldMs: number };
  readonly window: Window;
  /** Until when triggers that were only reported are quiet, by trigger's cause. */
  readonly quiet: Readonly<Record<number, number>>;
}

export function freshReference(nowMs: number): Reference {
  return {
    clockMs: nowMs,
    state: State.closed,
    stage: 0,
    generation: 1,
    sinceMs: nowMs,
    openUntilMs: [0, 0],
    openings: 0,
    cause: Cause.none,
    streak: 0,
    successes: 0,
    track: 0,
    lastCanaryMs: 0,
    probe: { owner: 0, leaseUntilMs: 0 },
    permits: [],
    lastPermit: 0,
    retryAfter: { untilMs: 0, toldMs: 0 },
    window: emptyWindow(nowMs),
    quiet: {},
  };
}

export const isProbing = ({ state, stage }: Reference): boolean => state === State.halfOpen && stage === 0;

export const isInRamp = ({ state, stage }: Reference): boolean => state === State.halfOpen && stage > 0;

export const livePermits = ({ permits }: Reference, nowMs: number): readonly HeldPermit[] =>
  permits.filter(({ deadlineMs }) => deadlineMs > nowMs);

/** A transition: one generation more, whatever it is. */
export function enter(
  from: Reference,
  to: Pick<Reference, "state" | "stage" | "cause"> & Partial<Reference>,
  nowMs: number,
  { windowSeconds }: Settings,
): Reference {
  const window = advance(from.window, nowMs, windowSeconds);
  return { ...from, window, ...to, successes: 0, sinceMs: nowMs, generation: from.generation + 1 };
}

export function close(from: Reference, cause: number, nowMs: number, settings: Settings): Reference {
  const afresh = { window: emptyWindow(nowMs), streak: 0, retryAfter: { ...from.retryAfter, untilMs: 0 } };
  return { ...enter(from, { state: State.closed, stage: 0, cause }, nowMs, settings), ...afresh };
}

/** One more opening in a row, for the wait that its number and its cause ask for. */
export function open(from: Reference, cause: number, nowMs: number, settings: Settings): Reference {
  const isAnew = from.state === State.closed && nowMs >= from.sinceMs + settings.backoffResetMs;
  const openings = isAnew ? 1 : from.openings + 1;
  const askedUntilMs = askedUntil(from, nowMs, settings);
  const doubledMs = Math.min(settings.waitMs * 2 ** (openings - 1), settings.maxWaitMs);
  const isUntold = cause === Cause.backpressure && askedUntilMs === 0;
  const leastMs = Math.max(
    cause === Cause.outOfMemory ? 5_000 : 0,
    isUntold ? settings.backpressureWaitMs : 0,
    doubledMs,
  );
  const mostMs = Math.max(leastMs, doubledMs * 1.2, isUntold ? settings.backpressureWaitMs * 1.2 : 0);
  const openUntilMs = [
    Math.max(askedUntilMs, nowMs + leastMs),
    Math.max(askedUntilMs, nowMs + mostMs),
  ] as const;
  return enter(from, { state: State.open, stage: 0, cause, openings, openUntilMs }, nowMs, settings);
}

/** The end of the longest wait that was asked for within the window and is not over; 0: there is none. */
export function askedUntil({ retryAfter }: Reference, nowMs: number, settings: Settings): number {
  const isOver = retryAfter.untilMs <= nowMs || nowMs >= retryAfter.toldMs + settings.windowSeconds * 1_000;
  return isOver ? 0 : Math.min(retryAfter.untilMs, nowMs + settings.maxRetryAfterMs);
}

export function heedRetryAfter(
  from: Reference,
  retryAfterMs: number,
  nowMs: number,
  settings: Settings,
): Reference {
  const untilMs = nowMs + Math.min(retryAfterMs, settings.maxRetryAfterMs);
  const retryAfter = { untilMs: Math.max(untilMs, askedUntil(from, nowMs, settings)), toldMs: nowMs };
  const [earliest, latest] = from.openUntilMs;
  const isOpen = from.state === State.open;
  const openUntilMs = isOpen
    ? ([Math.max(earliest, untilMs), Math.max(latest, untilMs)] as const)
    : undefined;
  return { ...from, retryAfter, ...(openUntilMs && { openUntilMs }) };
}
