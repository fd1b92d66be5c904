import { addSaturating, subtractSaturating } from "./arithmetic";
import { TRIGGER_COUNT } from "./config";
import { shiftHistory } from "./history";
import { BackendRecord, MAX_PERMITS, permitAt, quietUntilMs, setQuietUntilMs } from "./record";

/**
 * A worker that read the clock, lost some races and comes late is behind by less than this; only a step of the clock
 * itself is more.
 */
const CLOCK_STEP_MS: u64 = 10000;

/** The time to go by when only reading: a clock behind the record means that no time has passed. */
export function currentTime(record: BackendRecord, now: u64): u64 {
  return max(now, record.clockMs);
}

/** How far a clock has really gone back since it was seen; 0 when it has not, or by no more than a late worker is. */
export function stepBackMs(seenMs: u64, now: u64): u64 {
  return now < seenMs && seenMs - now > CLOCK_STEP_MS ? seenMs - now : 0;
}

/**
 * Whether the clock really went back. Whoever only asks and gets a no (`tryAcquireProbe`) should then write the record
 * back all the same, or each asker finds the old deadlines again. Never true of a monotonic clock.
 */
export function hasClockStepped(record: BackendRecord, now: u64): bool {
  return stepBackMs(record.clockMs, now) !== 0;
}

/**
 * Tells the record the time and returns the time to go by. Slightly late callers find that no time has passed. After a
 * real step back, every time in the record moves back with the clock, so that no wait gets longer than it was.
 */
export function advanceClock(record: BackendRecord, now: u64): u64 {
  const seen = record.clockMs;
  if (now >= seen) {
    record.clockMs = now;
    return now;
  }
  const stepMs = stepBackMs(seen, now);
  if (stepMs === 0) return seen;
  record.clockMs = now;
  record.stateSinceMs = subtractSaturating(record.stateSinceMs, stepMs);
  record.openUntilMs = subtractSaturating(record.openUntilMs, stepMs);
  record.probeLeaseUntilMs = subtractSaturating(record.probeLeaseUntilMs, stepMs);
  record.lastCanaryMs = subtractSaturating(record.lastCanaryMs, stepMs);
  record.headStartMs = subtractSaturating(record.headStartMs, stepMs);
  record.retryAfterUntilMs = subtractSaturating(record.retryAfterUntilMs, stepMs);
  record.retryAfterToldMs = subtractSaturating(record.retryAfterToldMs, stepMs);
  for (let i = 0; i < TRIGGER_COUNT; i++) {
    setQuietUntilMs(record, i, subtractSaturating(quietUntilMs(record, i), stepMs));
  }
  for (let i = 0; i < MAX_PERMITS; i++) {
    const permit = permitAt(record, i);
    permit.deadlineMs = subtractSaturating(permit.deadlineMs, stepMs);
  }
  shiftHistory(record, stepMs);
  return now;
}

/** Whether so much time has passed since a moment; a moment ahead of `now` has not passed. */
export function hasPassed(sinceMs: u64, durationMs: u64, now: u64): bool {
  return now >= addSaturating(sinceMs, durationMs);
}
