import { BreakerConfig, Trigger } from "./config";
import { Outcome } from "./outcome";
import { BackendRecord } from "./record";
import { Cause } from "./state";

/*
 * What a CLOSED backend's window says after an event. Every function gives the triggers that have tripped as a set: bit n
 * for the `Trigger` n. The event is already in the totals and the streak, so that the very one that fills the measure is
 * judged. Rates trip at their threshold, and not below the minimum number of calls.
 */

/** After a success or a failure. O(1). */
export function trippedByCall(record: BackendRecord, config: BreakerConfig, outcome: i32): u32 {
  let tripped: u32 = trippedByBackpressure(record, config);
  if (engineFatal(config, outcome)) tripped |= 1 << Trigger.ENGINE_FATAL;
  if (outOfMemory(record, config)) tripped |= 1 << Trigger.OUT_OF_MEMORY;
  if (consecutiveFailures(record, config)) tripped |= 1 << Trigger.CONSECUTIVE_FAILURES;
  if (failureRate(record, config)) tripped |= 1 << Trigger.FAILURE_RATE;
  if (failureCount(record, config)) tripped |= 1 << Trigger.FAILURE_COUNT;
  return tripped;
}

/** After backpressure, which is in no other measure. */
export function trippedByBackpressure(record: BackendRecord, config: BreakerConfig): u32 {
  const share = record.totalBackpressure;
  const all = <u64>record.totalCalls + share;
  return isRateReached(config, <u64>share * 100, all, config.backpressureRateThreshold)
    ? 1 << Trigger.BACKPRESSURE
    : 0;
}

/** After first tokens. */
export function trippedByFirstTokens(record: BackendRecord, config: BreakerConfig): u32 {
  let tripped: u32 = 0;
  const slow = <u64>record.totalSlowCalls * 100;
  if (isRateReached(config, slow, record.totalFirstTokens, config.slowCallRateThreshold))
    tripped |= 1 << Trigger.SLOW_CALL_RATE;
  if (isCountReached(max(record.consecutiveSlowCalls, 0), config.consecutiveSlowCallsThreshold))
    tripped |= 1 << Trigger.CONSECUTIVE_SLOW_CALLS;
  return tripped;
}

/** After a trend, which was judged by its own record. */
export function trippedByTrend(cause: i32): u32 {
  if (cause === Cause.LATENCY_DRIFT) return 1 << Trigger.LATENCY_DRIFT;
  return cause === Cause.COST_RATE ? 1 << Trigger.COST_RATE : 0;
}

function engineFatal(config: BreakerConfig, outcome: i32): bool {
  return config.engineFatalEnabled && outcome === Outcome.ENGINE_FATAL;
}

function outOfMemory(record: BackendRecord, config: BreakerConfig): bool {
  return isCountReached(record.totalOutOfMemory, config.outOfMemoryThreshold);
}

function consecutiveFailures(record: BackendRecord, config: BreakerConfig): bool {
  return isCountReached(max(record.consecutiveFailures, 0), config.consecutiveFailuresThreshold);
}

function failureRate(record: BackendRecord, config: BreakerConfig): bool {
  return isRateReached(config, record.totalWeightedFailures, record.totalCalls, config.failureRateThreshold);
}

function failureCount(record: BackendRecord, config: BreakerConfig): bool {
  return isCountReached(record.totalFailures, config.failureCountThreshold);
}

function isCountReached(count: u32, threshold: i32): bool {
  return threshold > 0 && count >= <u32>threshold;
}

/** Hundredths against percent: the two factors of 100 cancel out, and nothing is divided. */
function isRateReached(config: BreakerConfig, hundredths: u64, calls: u64, threshold: i32): bool {
  if (threshold <= 0 || hundredths === 0) return false;
  return calls >= <u64>max(config.minimumNumberOfCalls, 1) && hundredths >= <u64>threshold * calls;
}
