import { BreakerConfig } from "./config";
import { Outcome } from "./outcome";
import { BackendRecord } from "./record";
import { Cause } from "./state";
import { countedCalls } from "./window";

/**
 * Why a CLOSED backend must open now, or `Cause.NONE`. The outcome is already in the totals and the streak, so that the
 * very event that fills the measure is judged. The most telling cause wins.
 */
export function judge(record: BackendRecord, config: BreakerConfig, outcome: i32): i32 {
  if (engineFatal(config, outcome)) return Cause.ENGINE_FATAL;
  if (outOfMemory(record, config)) return Cause.OUT_OF_MEMORY;
  if (consecutiveFailures(record, config)) return Cause.CONSECUTIVE_FAILURES;
  if (failureRate(record, config)) return Cause.FAILURE_RATE;
  return Cause.NONE;
}

function engineFatal(config: BreakerConfig, outcome: i32): bool {
  return config.engineFatalEnabled && outcome === Outcome.ENGINE_FATAL;
}

function outOfMemory(record: BackendRecord, config: BreakerConfig): bool {
  const threshold = config.outOfMemoryThreshold;
  return threshold > 0 && record.totalOutOfMemory >= <u32>threshold;
}

function consecutiveFailures(record: BackendRecord, config: BreakerConfig): bool {
  const threshold = config.consecutiveFailuresThreshold;
  return threshold > 0 && record.consecutiveFailures >= threshold;
}

/** Hundredths of failures against percent of calls: the two factors of 100 cancel out, and nothing is divided. */
function failureRate(record: BackendRecord, config: BreakerConfig): bool {
  const threshold = config.failureRateThreshold;
  if (threshold <= 0 || record.totalFailures === 0) return false;
  const calls = countedCalls(record);
  if (calls < <u64>max(config.minimumNumberOfCalls, 1)) return false;
  return <u64>record.totalWeightedFailures >= <u64>threshold * calls;
}
