import { addSaturating, incrementSaturating } from "./arithmetic";
import { longestWaitMs, openWaitMs, withJitter } from "./backoff";
import { hasPassed } from "./clock";
import { BreakerConfig } from "./config";
import { remember } from "./history";
import { BackendRecord, clearRing } from "./record";
import { retryAfterUntil } from "./retry-after";
import { Cause, State } from "./state";

/** An engine that ran out of GPU memory is of no use earlier than this, whatever wait is configured. */
const OUT_OF_MEMORY_WAIT_MS: u64 = 5000;

/** A probe that never reached the backend tells nothing: the next one is tried this soon. */
const ABANDONED_PROBE_RETRY_MS: u64 = 1000;

/**
 * CLOSED, or HALF_OPEN after a failed probe or canary → OPEN for the wait of one more opening in a row, or for longer
 * when the cause or a Retry-After asks for it. After a healthy time in CLOSED the row starts anew. From CLOSED it is this
 * gateway's own evidence.
 */
export function open(record: BackendRecord, config: BreakerConfig, now: u64, cause: i32, jitter: u32): void {
  const recovered =
    record.state === State.CLOSED && hasPassed(record.stateSinceMs, config.backoffResetAfterMs, now);
  record.openings = recovered ? 1 : incrementSaturating(max(record.openings, 0));
  if (record.state === State.CLOSED) record.isEvidence = 1;
  const askedUntilMs = retryAfterUntil(record, config, now);
  let waitMs = openWaitMs(config, record.openings, jitter);
  if (cause === Cause.OUT_OF_MEMORY) waitMs = max(waitMs, OUT_OF_MEMORY_WAIT_MS);
  if (cause === Cause.BACKPRESSURE && askedUntilMs === 0) {
    waitMs = max(waitMs, withJitter(config.backpressureWaitMs, jitter));
  }
  record.openUntilMs = max(askedUntilMs, addSaturating(now, waitMs));
  enter(record, State.OPEN, 0, now, cause);
}

/**
 * Any state → OPEN by what others know: for the given wait, or for longer when a Retry-After or an opening that is on asks
 * for it. Whose evidence it is stays as it was.
 */
export function openFor(
  record: BackendRecord,
  config: BreakerConfig,
  now: u64,
  openings: i32,
  waitMs: u64,
  cause: i32,
): void {
  record.openings = max(record.openings, openings);
  lengthenWait(record, config, now, waitMs);
  enter(record, State.OPEN, 0, now, cause);
}

/** Sets the wait's end; it never shortens an opening that is on. */
export function lengthenWait(record: BackendRecord, config: BreakerConfig, now: u64, waitMs: u64): void {
  const untilMs = addSaturating(now, min(waitMs, longestWaitMs(config)));
  const ownUntilMs = record.state === State.OPEN ? record.openUntilMs : 0;
  record.openUntilMs = max(max(untilMs, ownUntilMs), retryAfterUntil(record, config, now));
}

/** OPEN with the wait over, or HALF_OPEN whose prober lost its lease → HALF_OPEN, probing. */
export function startProbe(record: BackendRecord, config: BreakerConfig, now: u64, owner: u64): void {
  record.probeOwner = owner;
  record.probeLeaseUntilMs = addSaturating(now, config.probeLeaseMs);
  enter(record, State.HALF_OPEN, 0, now, Cause.WAIT_OVER);
}

/** HALF_OPEN, probing → OPEN for a moment, in the same opening. */
export function returnToOpen(record: BackendRecord, config: BreakerConfig, now: u64): void {
  const askedUntilMs = retryAfterUntil(record, config, now);
  record.openUntilMs = max(askedUntilMs, addSaturating(now, ABANDONED_PROBE_RETRY_MS));
  enter(record, State.OPEN, 0, now, Cause.PROBE_ABANDONED);
}

/** HALF_OPEN, probing → the ramp's first stage. */
export function startRamp(record: BackendRecord, now: u64): void {
  enterRamp(record, 1, now, Cause.PROBE_SUCCEEDED);
}

/** OPEN or HALF_OPEN → a stage of the ramp. Where it begins, callers have their time to feed it. */
export function enterRamp(record: BackendRecord, stage: i32, now: u64, cause: i32): void {
  if (record.state !== State.HALF_OPEN || record.stage <= 0) record.lastCanaryMs = now;
  enter(record, State.HALF_OPEN, max(stage, 1), now, cause);
}

/** A stage of the ramp → the next one. */
export function nextStage(record: BackendRecord, now: u64): void {
  enter(record, State.HALF_OPEN, record.stage + 1, now, Cause.STAGE_PASSED);
}

/** Any state → CLOSED, with an empty window and no streak: what the outage left must not count again. */
export function close(record: BackendRecord, now: u64, cause: i32): void {
  enter(record, State.CLOSED, 0, now, cause);
  clearRing(record, now);
  record.consecutiveFailures = 0;
  record.consecutiveSlowCalls = 0;
  record.retryAfterUntilMs = 0;
  record.isEvidence = 0;
}

/** Permits are left alone: their requests still run, and count against the cap until they end or die. */
function enter(record: BackendRecord, state: i32, stage: i32, now: u64, cause: i32): void {
  const from = record.state;
  record.state = state;
  record.stage = stage;
  record.stageSuccesses = 0;
  record.stateSinceMs = now;
  record.lastCause = cause;
  const generation = record.generation + 1;
  record.generation = generation === 0 ? 1 : generation;
  remember(record, from, now);
}
