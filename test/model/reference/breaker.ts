import { settings as modelSettings, type Settings } from "../policy.js";
import { Cause, late, Mode, Permission, State } from "../record/names.js";
import type { Act, Operation, Orders, Word } from "./operation.js";
import {
  closeWhenPassed,
  isMoving,
  onFirstTokens,
  onOutcome,
  onSuccesses,
  type Result,
  stageOf,
} from "./outcomes.js";
import { askedUntil, close, enter, isInRamp, isProbing, livePermits, open, type Reference } from "./state.js";

/** The bit that {@link apply} sets where a look is drawn as a canary. */
export const drawn = 16;

/**
 * What an operation makes of the record and what it answers, by the documents: the second opinion that the record code is held
 * against. A worker that comes late finds that no time has passed.
 */
export function apply(from: Reference, act: Act, settings: Settings = modelSettings): Result {
  const nowMs = Math.max(act.nowMs, from.clockMs);
  // To give a permit back takes no look at the clock.
  const clockMs = act.operation.kind === "release" ? from.clockMs : nowMs;
  return decide({ ...from, clockMs }, act, nowMs, settings);
}

function decide(from: Reference, { operation, orders }: Act, nowMs: number, settings: Settings): Result {
  switch (operation.kind) {
    case "look":
      return { next: from, answer: look(from, operation.random, orders, nowMs, settings) };
    case "canary":
      return takeCanary(from, operation.isIdle, orders, nowMs, settings);
    case "outcome":
      return onOutcome(from, operation, orders, nowMs, settings);
    case "successes":
      return onSuccesses(from, operation, orders, nowMs, settings);
    case "firstTokens":
      return onFirstTokens(from, operation, orders, nowMs, settings);
    case "release":
      return unchanged({ ...from, permits: from.permits.filter(({ id }) => id !== operation.permit) });
    case "renew":
      return unchanged(renew(from, operation.permit, nowMs, settings));
    case "takeProbe":
      return takeProbe(from, operation.owner, orders, nowMs, settings);
    case "probeVerdict":
    case "abandon":
      return onProbe(from, operation, orders, nowMs, settings);
    case "close":
      return closeWhenPassed(from, orders, nowMs, settings);
    case "word":
      return onWord(from, operation, orders, nowMs, settings);
  }
}

const unchanged = (next: Reference): Result => ({ next, answer: Cause.none });

function look(from: Reference, random: number, orders: Orders, nowMs: number, settings: Settings): number {
  const isDrawn = mayTake(from, orders, nowMs, settings) && draws(from, random, nowMs, settings);
  return permissionOf(from, orders) | (isDrawn ? drawn : 0);
}

function permissionOf(from: Reference, { mode }: Orders): number {
  if (mode === Mode.forcedOpen) return Permission.refused;
  if (mode !== Mode.enforce || from.state === State.closed) return Permission.permitted;
  return isInRamp(from) ? Permission.canaryOnly : Permission.refused;
}

function draws(from: Reference, random: number, nowMs: number, settings: Settings): boolean {
  const percent = Math.floor((random / 2 ** 32) * 100);
  return percent < stageOf(from, settings).percent || nowMs >= from.lastCanaryMs + settings.noDrawAfterMs;
}

/** All permits that are alive count, those of earlier stages and openings too. */
function mayTake(from: Reference, { mode, rampShare }: Orders, nowMs: number, settings: Settings): boolean {
  const cap = stageOf(from, settings).maxConcurrent;
  const allowed = rampShare < 0 ? cap : Math.min(cap, rampShare);
  return isMoving(mode) && isInRamp(from) && livePermits(from, nowMs).length < allowed;
}

function takeCanary(
  from: Reference,
  isIdle: boolean,
  orders: Orders,
  nowMs: number,
  settings: Settings,
): Result {
  const patienceMs = Math.max(settings.noDrawAfterMs * 2, 5_000);
  if (isIdle && nowMs < from.lastCanaryMs + patienceMs) return unchanged(from);
  if (!mayTake(from, orders, nowMs, settings)) return unchanged(from);
  const lastPermit = from.lastPermit + 1;
  const permit = { id: lastPermit, deadlineMs: nowMs + settings.permitTimeoutMs };
  const permits = [...livePermits(from, nowMs), permit];
  return { next: { ...from, permits, lastPermit, lastCanaryMs: nowMs }, answer: lastPermit };
}

function renew(from: Reference, permit: number, nowMs: number, settings: Settings): Reference {
  const deadlineMs = nowMs + settings.permitTimeoutMs;
  return {
    ...from,
    permits: livePermits(from, nowMs).map((each) => (each.id === permit ? { ...each, deadlineMs } : each)),
  };
}

function takeProbe(
  from: Reference,
  owner: number,
  { mode }: Orders,
  nowMs: number,
  settings: Settings,
): Result {
  const isDue = from.state === State.open && nowMs >= from.openUntilMs[0];
  const isLost = isProbing(from) && nowMs >= from.probe.leaseUntilMs;
  if (!isMoving(mode) || !(isDue || isLost)) return unchanged(from);
  const probe = { owner, leaseUntilMs: nowMs + settings.probeLeaseMs };
  const to = { state: State.halfOpen, stage: 0, cause: Cause.waitOver, probe };
  return { next: enter(from, to, nowMs, settings), answer: 1 };
}

function onProbe(
  from: Reference,
  operation: Extract<Operation, { kind: "probeVerdict" | "abandon" }>,
  { mode }: Orders,
  nowMs: number,
  settings: Settings,
): Result {
  if (!isMoving(mode) || !isProbing(from) || from.probe.owner !== operation.owner)
    return { next: from, answer: late };
  if (operation.kind === "abandon") {
    const untilMs = Math.max(askedUntil(from, nowMs, settings), nowMs + 1_000);
    const to = { state: State.open, stage: 0, cause: Cause.probeAbandoned };
    const openUntilMs = [untilMs, untilMs] as const;
    return { next: enter(from, { ...to, openUntilMs }, nowMs, settings), answer: to.cause };
  }
  if (!operation.isWell)
    return { next: open(from, Cause.probeFailed, nowMs, settings), answer: Cause.probeFailed };
  return { next: enterRamp(from, 1, Cause.probeSucceeded, nowMs, settings), answer: Cause.probeSucceeded };
}

function enterRamp(
  from: Reference,
  stage: number,
  cause: number,
  nowMs: number,
  settings: Settings,
): Reference {
  const lastCanaryMs = isInRamp(from) ? from.lastCanaryMs : nowMs;
  return enter(from, { state: State.halfOpen, stage, cause, lastCanaryMs }, nowMs, settings);
}

function onWord(from: Reference, word: Word, { mode }: Orders, nowMs: number, settings: Settings): Result {
  const isReset = word.cause === Cause.operatorReset;
  const isStale = word.generation !== from.generation || word.version <= from.track;
  if (isStale || !(isMoving(mode) || isReset)) return { next: from, answer: late };
  const next = { ...from, track: word.version };
  if (from.state === State.closed && !word.isForAll) return unchanged(next);
  if (word.to === State.open) return openBy(next, word, nowMs, settings);
  if (word.to === State.halfOpen) {
    const isThere = from.state === State.closed || (isInRamp(from) && from.stage === word.stage);
    if (isThere) return unchanged(next);
    const counted = { ...next, openings: Math.max(from.openings, word.openings) };
    return { next: enterRamp(counted, word.stage, word.cause, nowMs, settings), answer: word.cause };
  }
  if (from.state === State.closed && !isReset) return unchanged(next);
  const counted = isReset ? { ...next, openings: 0 } : next;
  return { next: close(counted, word.cause, nowMs, settings), answer: word.cause };
}

/** Open already: only the wait may get longer, unless it is one more opening. */
function openBy(from: Reference, word: Word, nowMs: number, settings: Settings): Result {
  const untilMs = Math.max(nowMs + word.waitMs, askedUntil(from, nowMs, settings));
  const [earliest, latest] = from.state === State.open ? from.openUntilMs : [0, 0];
  const openUntilMs = [Math.max(earliest, untilMs), Math.max(latest, untilMs)] as const;
  if (from.state === State.open && word.openings <= from.openings) return unchanged({ ...from, openUntilMs });
  const openings = Math.max(from.openings, word.openings);
  const to = { state: State.open, stage: 0, cause: word.cause, openings, openUntilMs };
  return { next: enter(from, to, nowMs, settings), answer: word.cause };
}
