import { addSaturating } from "./arithmetic";
import { hasPassed } from "./clock";
import { BreakerConfig } from "./config";
import { BackendRecord } from "./record";
import { State } from "./state";

/*
 * A backend that asks by Retry-After to be left alone knows best. The longest wait that it asked for within the window is
 * kept as a moment in time: an opening that is on lasts until then at least, and so does one that begins meanwhile,
 * whatever its cause. It never shortens a wait.
 */

/** Takes note of a Retry-After that was told now. */
export function heedRetryAfter(
  record: BackendRecord,
  config: BreakerConfig,
  now: u64,
  retryAfterMs: u32,
): void {
  const untilMs = latestUntil(config, now, addSaturating(now, retryAfterMs));
  record.retryAfterUntilMs = max(untilMs, retryAfterUntil(record, config, now));
  record.retryAfterToldMs = now;
  if (record.state === State.OPEN) record.openUntilMs = max(record.openUntilMs, untilMs);
}

/** The end of the longest wait that was asked for within the window and is not over; 0 when there is none. */
export function retryAfterUntil(record: BackendRecord, config: BreakerConfig, now: u64): u64 {
  const windowMs = <u64>max(config.slidingWindowSize, 1) * 1000;
  if (record.retryAfterUntilMs <= now || hasPassed(record.retryAfterToldMs, windowMs, now)) return 0;
  return latestUntil(config, now, record.retryAfterUntilMs);
}

function latestUntil(config: BreakerConfig, now: u64, untilMs: u64): u64 {
  return min(untilMs, addSaturating(now, config.maxRetryAfterMs));
}
