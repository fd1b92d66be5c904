import { incrementSaturating, subtractSaturating } from "./arithmetic";
import { advanceClock, currentTime } from "./clock";
import { BreakerConfig } from "./config";
import { isFailure, Outcome } from "./outcome";
import { extendPermit, freePermit, isPermitLive } from "./permits";
import { countSuccess, isDrawn, isInRamp, takeCanary } from "./ramp";
import { BackendRecord } from "./record";
import { Cause, State } from "./state";
import { open, returnToOpen, startProbe, startRamp } from "./transitions";
import { judge } from "./triggers";
import { fileOutcome } from "./window";

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

/** Set in a verdict when the outcome came too late to count: of an earlier generation, or on a dead permit. */
export const VERDICT_LATE: i32 = 0x100;

// --- ask ---

/** What the backend lets pass now. Read-only, O(1): an opening ends by its probe, never by the clock alone. */
export function permission(record: BackendRecord, _now: u64): i32 {
  if (record.state === State.CLOSED) return Permission.PERMITTED;
  return isInRamp(record) ? Permission.CANARY_ONLY : Permission.REFUSED;
}

/** Milliseconds until the backend may be tried again, for Retry-After; 0 unless OPEN. Read-only. */
export function remainingWaitMs(record: BackendRecord, now: u64): u64 {
  if (record.state !== State.OPEN) return 0;
  return subtractSaturating(record.openUntilMs, currentTime(record, now));
}

/**
 * Whether this request may try to be a canary: in the ramp, a permit free (a dead permit's counts), and drawn by the
 * stage's percentage, or none taken for `canaryNoDrawAfterMs`. Read-only.
 * @param random any u32, evenly spread
 */
export function isCanaryDrawn(record: BackendRecord, config: BreakerConfig, now: u64, random: u32): bool {
  return isInRamp(record) && isDrawn(record, config, currentTime(record, now), random);
}

/**
 * Takes a canary's permit; its id, or 0 when not in the ramp or the stage's cap is reached. All permits that are alive
 * count against the cap, those of earlier stages and openings too: their requests still load the backend.
 */
export function tryAcquireCanary(record: BackendRecord, config: BreakerConfig, now: u64): u32 {
  const time = advanceClock(record, now);
  return isInRamp(record) ? takeCanary(record, config, time) : 0;
}

/**
 * Makes the caller the one who probes: when OPEN and the wait is over, or when the present prober's lease ran out
 * without a verdict. Of all who try, compare-and-swap lets one win. `owner` names this one probe, not its sender: a
 * sender that takes its own lost lease again needs a new name, or the old probe's verdict would pass for the new one's.
 */
export function tryAcquireProbe(record: BackendRecord, config: BreakerConfig, now: u64, owner: u64): bool {
  const time = advanceClock(record, now);
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
  if (!isProbing(record) || record.probeOwner !== owner) return VERDICT_LATE;
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
export function abandonProbe(record: BackendRecord, _config: BreakerConfig, now: u64, owner: u64): i32 {
  const time = advanceClock(record, now);
  if (!isProbing(record) || record.probeOwner !== owner) return VERDICT_LATE;
  returnToOpen(record, time);
  return Cause.PROBE_ABANDONED;
}

/**
 * Files the end of an attempt and moves the state machine. The permit, if any, is freed whatever else holds. CLOSED: the
 * outcome goes into the window and the triggers judge it. In the ramp a canary of this stage votes; one admitted in an
 * earlier stage does not, as each stage is a generation of its own: it would vouch for a load that is no more. A request
 * of this generation without a permit (let through in spite of the breaker) has no vote and is not late.
 * @param generation the record's, at admission
 * @param permitId the canary's permit, 0 for none
 * @param outcome an `Outcome`
 * @param jitter any u32, spreads the wait when this opens
 * @returns a verdict: a `Cause` in the low byte (NONE: no transition), and `VERDICT_LATE` when it did not count
 */
export function onOutcome(
  record: BackendRecord,
  config: BreakerConfig,
  now: u64,
  generation: u32,
  permitId: u32,
  outcome: i32,
  jitter: u32,
): i32 {
  const time = advanceClock(record, now);
  const isDead = permitId !== 0 && !isPermitLive(record, permitId, time);
  if (permitId !== 0) freePermit(record, permitId);
  if (isDead || generation !== record.generation) return VERDICT_LATE;
  if (record.state === State.CLOSED) return onCall(record, config, time, outcome, jitter);
  return permitId !== 0 && isInRamp(record) ? onCanary(record, config, time, outcome, jitter) : Cause.NONE;
}

function onCall(record: BackendRecord, config: BreakerConfig, now: u64, outcome: i32, jitter: u32): i32 {
  fileOutcome(record, outcome, now);
  if (isFailure(outcome))
    record.consecutiveFailures = incrementSaturating(max(record.consecutiveFailures, 0));
  else if (outcome === Outcome.SUCCESS) record.consecutiveFailures = 0;
  else return Cause.NONE;
  const cause = judge(record, config, outcome);
  if (cause !== Cause.NONE) open(record, config, now, cause, jitter);
  return cause;
}

function onCanary(record: BackendRecord, config: BreakerConfig, now: u64, outcome: i32, jitter: u32): i32 {
  if (outcome === Outcome.SUCCESS) return countSuccess(record, config, now);
  if (!isFailure(outcome)) return Cause.NONE;
  open(record, config, now, Cause.CANARY_FAILED, jitter);
  return Cause.CANARY_FAILED;
}

function isProbing(record: BackendRecord): bool {
  return record.state === State.HALF_OPEN && record.stage <= 0;
}
