import { incrementSaturating, subtractSaturating } from "./arithmetic";
import { advanceClock, currentTime } from "./clock";
import { BreakerConfig, Mode } from "./config";
import { settle, VERDICT_LATE } from "./enforcement";
import { isFiling, isMoving, isRefusing } from "./mode";
import { isFailure, Outcome } from "./outcome";
import { extendPermit, freePermit, isPermitLive } from "./permits";
import { closeWhenPassed, countSuccess, isDrawn, isIdle, isInRamp, takeCanary } from "./ramp";
import { BackendRecord } from "./record";
import { heedRetryAfter } from "./retry-after";
import { fileFirstTokens } from "./slow-call";
import { Cause, State } from "./state";
import { open, returnToOpen, startProbe, startRamp } from "./transitions";
import { trippedByBackpressure, trippedByCall, trippedByFirstTokens, trippedByTrend } from "./triggers";
import { fileOutcome, fileSuccesses } from "./window";

export { VERDICT_LATE, VERDICT_REPORTED } from "./enforcement";

/*
 * The seam: what the positions *ask* and *tell* a backend's breaker. Every function works on a copy of the record; what
 * mutates it is to be written back by compare-and-swap, and done again on a fresh copy when the race was lost. `now` is
 * monotonic milliseconds. No function allocates, logs, or traps on any bytes.
 */

/** What a backend lets pass. */
export enum Permission {
  PERMITTED,
  REFUSED,
  /** Only a request that is drawn and takes a permit. */
  CANARY_ONLY,
}

// --- ask ---

/**
 * What the backend lets pass now. Read-only, O(1): an opening ends by its probe, never by the clock alone. In SHADOW
 * everything passes; a ramp that is on still needs its canaries, so ask {@link isCanaryDrawn} of what is PERMITTED too.
 */
export function permission(record: BackendRecord, config: BreakerConfig, _now: u64): i32 {
  if (!isRefusing(config.mode)) {
    return config.mode === Mode.FORCED_OPEN ? Permission.REFUSED : Permission.PERMITTED;
  }
  if (record.state === State.CLOSED) return Permission.PERMITTED;
  return isInRamp(record) ? Permission.CANARY_ONLY : Permission.REFUSED;
}

/** Milliseconds until the backend may be tried again, for Retry-After; 0 unless OPEN by its own evidence. Read-only. */
export function remainingWaitMs(record: BackendRecord, config: BreakerConfig, now: u64): u64 {
  if (record.state !== State.OPEN || !isRefusing(config.mode)) return 0;
  return subtractSaturating(record.openUntilMs, currentTime(record, now));
}

/**
 * Whether this request may try to be a canary: in the ramp, a permit free (a dead permit's counts), and drawn by the
 * stage's percentage, or none taken for `canaryNoDrawAfterMs`. Read-only.
 * @param random any u32, evenly spread
 */
export function isCanaryDrawn(record: BackendRecord, config: BreakerConfig, now: u64, random: u32): bool {
  return (
    isMoving(config.mode) && isInRamp(record) && isDrawn(record, config, currentTime(record, now), random)
  );
}

/**
 * Takes a canary's permit; its id, or 0 when not in the ramp or the stage's cap is reached. All permits that are alive
 * count against the cap, those of earlier stages and openings too: their requests still load the backend.
 */
export function tryAcquireCanary(record: BackendRecord, config: BreakerConfig, now: u64): u32 {
  const time = advanceClock(record, now);
  return isMoving(config.mode) && isInRamp(record) ? takeCanary(record, config, time) : 0;
}

/**
 * Takes the permit of a ramp that nobody feeds, for a probe of our own; its id, or 0. A fallback whose earlier tiers are well
 * gets no request that could be its canary, and would be half-open, and so no fallback, for ever.
 */
export function tryAcquireIdleCanary(record: BackendRecord, config: BreakerConfig, now: u64): u32 {
  const time = advanceClock(record, now);
  const isFed = !isInRamp(record) || !isIdle(record, config, time);
  return !isFed && isMoving(config.mode) ? takeCanary(record, config, time) : 0;
}

/**
 * Makes the caller the one who probes: when OPEN and the wait is over, or when the present prober's lease ran out
 * without a verdict. Of all who try, compare-and-swap lets one win. `owner` names this one probe, not its sender: a
 * sender that takes its own lost lease again needs a new name, or the old probe's verdict would pass for the new one's.
 */
export function tryAcquireProbe(record: BackendRecord, config: BreakerConfig, now: u64, owner: u64): bool {
  const time = advanceClock(record, now);
  if (!isMoving(config.mode)) return false;
  const isDue =
    (record.state === State.OPEN && time >= record.openUntilMs) ||
    (isProbing(record) && time >= record.probeLeaseUntilMs);
  if (isDue) startProbe(record, config, time, owner);
  return isDue;
}

// --- tell ---

/** A sign of life of a canary: its deadline moves. False when the permit is not held, or dead already. */
export function renewPermit(record: BackendRecord, config: BreakerConfig, id: u32, now: u64): bool {
  return extendPermit(record, id, config.permitTimeoutMs, advanceClock(record, now));
}

/** Gives a permit back without an outcome. Whichever end comes first frees it; false when it is not held (any more). */
export function releasePermit(record: BackendRecord, id: u32): bool {
  return freePermit(record, id);
}

/**
 * The probe's verdict: success starts the ramp, failure is one more opening. A prober whose lease ran out still has the
 * word until another takes over; then it is late and changes nothing.
 * @param jitter any u32, spreads the next wait
 * @returns a `Cause`, or `VERDICT_LATE`
 */
export function onProbeOutcome(
  record: BackendRecord,
  config: BreakerConfig,
  now: u64,
  owner: u64,
  success: bool,
  jitter: u32,
): i32 {
  const time = advanceClock(record, now);
  if (!isOwnProbe(record, config, owner)) return VERDICT_LATE;
  if (success) {
    startRamp(record, time);
    return Cause.PROBE_SUCCEEDED;
  }
  open(record, config, time, Cause.PROBE_FAILED, jitter);
  return Cause.PROBE_FAILED;
}

/**
 * The probe was never sent, or was cut by our own side: no vote. Back to OPEN in the same opening, to be tried again in
 * a second. Returns a `Cause`, or `VERDICT_LATE` when another has taken over.
 */
export function abandonProbe(record: BackendRecord, config: BreakerConfig, now: u64, owner: u64): i32 {
  const time = advanceClock(record, now);
  if (!isOwnProbe(record, config, owner)) return VERDICT_LATE;
  returnToOpen(record, config, time);
  return Cause.PROBE_ABANDONED;
}

/**
 * Closes a ramp that has passed and was held by the engine's signals, once it no longer is. For the tick: canaries close it
 * otherwise.
 * @returns RAMP_COMPLETE, or NONE: then nothing is to be written back
 */
export function tryClose(record: BackendRecord, config: BreakerConfig, now: u64): i32 {
  if (!isMoving(config.mode)) return Cause.NONE;
  return closeWhenPassed(record, config, advanceClock(record, now));
}

/**
 * Files the end of an attempt and moves the state machine. The permit, if any, is freed whatever else holds. CLOSED: the
 * outcome goes into the window and the triggers judge it. In the ramp a canary of this stage votes; one admitted in an
 * earlier stage does not, as each stage is a generation of its own: it would vouch for a load that is no more. A request
 * of this generation without a permit (let through in spite of the breaker) has no vote and is not late.
 * @param generation the record's, at admission
 * @param permitId the canary's permit, 0 for none
 * @param outcome an `Outcome`
 * @param weight how heavily a failure counts, in hundredths of one. At 0 it is a call, and no failure: neither in rate,
 *   count and streak, nor as a canary's vote. A dead engine and a lack of memory have their own switches
 * @param retryAfterMs what a backpressure answer told, however late it comes; 0 = nothing
 * @param jitter any u32: spreads the wait when this opens, and is the draw of `enforcing`
 * @returns a verdict: a `Cause` in the low byte (NONE: no transition), with `VERDICT_LATE` when it did not count, or
 *   `VERDICT_REPORTED` when the cause moved nothing
 */
export function onOutcome(
  record: BackendRecord,
  config: BreakerConfig,
  now: u64,
  generation: u32,
  permitId: u32,
  outcome: i32,
  weight: u32,
  retryAfterMs: u32,
  jitter: u32,
): i32 {
  const time = advanceClock(record, now);
  const isDead = permitId !== 0 && !isPermitLive(record, permitId, time);
  if (permitId !== 0) freePermit(record, permitId);
  if (!isFiling(config.mode)) return Cause.NONE;
  if (outcome === Outcome.BACKPRESSURE && retryAfterMs !== 0)
    heedRetryAfter(record, config, time, retryAfterMs);
  if (isDead || generation !== record.generation) return VERDICT_LATE;
  if (isWatched(record, config)) {
    return settle(record, config, time, fileCall(record, config, time, outcome, weight), jitter);
  }
  return permitId !== 0 && isInRamp(record)
    ? onCanary(record, config, time, outcome, weight, jitter)
    : Cause.NONE;
}

/**
 * Files successes without a permit: a batch, as they are gathered over a tick.
 * @param endsStreak whether one of them came after all failures in a row
 * @returns a verdict
 */
export function onSuccesses(
  record: BackendRecord,
  config: BreakerConfig,
  now: u64,
  generation: u32,
  calls: u32,
  endsStreak: bool,
  jitter: u32,
): i32 {
  const time = advanceClock(record, now);
  if (!isFiling(config.mode)) return Cause.NONE;
  if (generation !== record.generation) return VERDICT_LATE;
  if (!isWatched(record, config)) return Cause.NONE;
  fileSuccesses(record, calls, time);
  if (endsStreak) record.consecutiveFailures = 0;
  return settle(record, config, time, trippedByCall(record, config, Outcome.SUCCESS), jitter);
}

/**
 * Files first tokens: facts of their own, known long before the outcome. A batch, as they are gathered over a tick.
 * @param generation the record's, when the calls were admitted
 * @param calls those with a first token, the timeout of one, or one that is overdue
 * @param slow how many of them were slow; `slowInARow`: of the latest, one after another
 * @returns a verdict
 */
export function onFirstTokens(
  record: BackendRecord,
  config: BreakerConfig,
  now: u64,
  generation: u32,
  calls: u32,
  slow: u32,
  slowInARow: u32,
  jitter: u32,
): i32 {
  const time = advanceClock(record, now);
  if (!isFiling(config.mode)) return Cause.NONE;
  if (generation !== record.generation) return VERDICT_LATE;
  if (!isWatched(record, config)) return Cause.NONE;
  fileFirstTokens(record, calls, slow, slowInARow, time);
  return settle(record, config, time, trippedByFirstTokens(record, config), jitter);
}

/**
 * Opens a CLOSED backend for what its trend shows.
 * @param cause LATENCY_DRIFT or COST_RATE
 * @param jitter as in {@link onOutcome}
 * @returns a verdict
 */
export function onTrend(
  record: BackendRecord,
  config: BreakerConfig,
  now: u64,
  cause: i32,
  jitter: u32,
): i32 {
  const time = advanceClock(record, now);
  if (!isFiling(config.mode) || !isWatched(record, config)) return Cause.NONE;
  return settle(record, config, time, trippedByTrend(cause), jitter);
}

/** Files an outcome in the window and the streak; the triggers that have tripped. */
function fileCall(record: BackendRecord, config: BreakerConfig, now: u64, outcome: i32, weight: u32): u32 {
  fileOutcome(record, outcome, weight, now);
  if (outcome === Outcome.BACKPRESSURE) return trippedByBackpressure(record, config);
  if (outcome === Outcome.SUCCESS) record.consecutiveFailures = 0;
  else if (!isFailure(outcome)) return 0;
  else if (weight !== 0) {
    if (record.consecutiveFailures <= 0) record.failingSinceMs = now;
    record.consecutiveFailures = incrementSaturating(max(record.consecutiveFailures, 0));
  }
  return trippedByCall(record, config, outcome);
}

function onCanary(
  record: BackendRecord,
  config: BreakerConfig,
  now: u64,
  outcome: i32,
  weight: u32,
  jitter: u32,
): i32 {
  if (outcome === Outcome.SUCCESS) return countSuccess(record, config, now);
  if (!isFailure(outcome) || weight === 0) return Cause.NONE;
  open(record, config, now, Cause.CANARY_FAILED, jitter);
  return Cause.CANARY_FAILED;
}

/** Whether the triggers judge: CLOSED, or forced to let pass what an earlier opening would refuse. */
function isWatched(record: BackendRecord, config: BreakerConfig): bool {
  return record.state === State.CLOSED || config.mode === Mode.FORCED_CLOSED;
}

function isProbing(record: BackendRecord): bool {
  return record.state === State.HALF_OPEN && record.stage <= 0;
}

function isOwnProbe(record: BackendRecord, config: BreakerConfig, owner: u64): bool {
  return isMoving(config.mode) && isProbing(record) && record.probeOwner === owner;
}
