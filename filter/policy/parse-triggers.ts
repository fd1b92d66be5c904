import { BreakerConfig, TRIGGER_COUNT } from "../breaker/config";
import { Fields, HOUR_MS } from "./fields";
import { Backend } from "./policy";

const MAX_COUNT: i32 = 1000000;
/** What a trend holds at least when it is full. */
const MAX_DRIFT_SAMPLES: i32 = 300;
/** In the order of `Trigger`. */
const TRIGGERS: string[] = [
  "failureRate",
  "slowCallRate",
  "consecutiveFailures",
  "failureCount",
  "latencyDrift",
  "costRate",
  "engineFatal",
  "outOfMemory",
  "backpressure",
  "consecutiveSlowCalls",
];

/** What opens a backend, and how strictly. */
export function parseTriggers(fields: Fields, backend: Backend): void {
  const config = backend.breaker;
  config.failureRateThreshold = percent(fields, "failureRateThreshold", config.failureRateThreshold);
  config.consecutiveFailuresThreshold = fields.integer(
    "consecutiveFailuresThreshold",
    0,
    MAX_COUNT,
    config.consecutiveFailuresThreshold,
  );
  config.failureCountThreshold = fields.integer(
    "failureCountThreshold",
    0,
    MAX_COUNT,
    config.failureCountThreshold,
  );
  config.engineFatalEnabled = fields.flag("engineFatal", config.engineFatalEnabled);
  config.outOfMemoryThreshold = fields.integer("outOfMemoryThreshold", 0, 1000, config.outOfMemoryThreshold);
  parseSlowness(fields, backend);
  config.backpressureRateThreshold = percent(
    fields,
    "backpressureRateThreshold",
    config.backpressureRateThreshold,
  );
  config.backpressureWaitMs = fields.duration("backpressureWait", 100, HOUR_MS, config.backpressureWaitMs);
  config.maxRetryAfterMs = fields.duration("maxRetryAfter", 0, HOUR_MS, config.maxRetryAfterMs);
  config.costRateThreshold = fields.factor("costRateThreshold", 0, 1000, config.costRateThreshold);
  parseEnforcing(fields.object("enforcingPercent"), config);
}

function parseSlowness(fields: Fields, backend: Backend): void {
  const config = backend.breaker;
  config.slowCallRateThreshold = percent(fields, "slowCallRateThreshold", config.slowCallRateThreshold);
  config.consecutiveSlowCallsThreshold = fields.integer(
    "consecutiveSlowCallsThreshold",
    0,
    MAX_COUNT,
    config.consecutiveSlowCallsThreshold,
  );
  config.slowFirstTokenThresholdMs = fields.duration(
    "slowFirstTokenThreshold",
    1,
    HOUR_MS,
    config.slowFirstTokenThresholdMs,
  );
  config.slowFirstTokenPerPromptTokenMs = fields.duration(
    "slowFirstTokenPerPromptToken",
    0,
    60000,
    config.slowFirstTokenPerPromptTokenMs,
  );
  backend.slowTokenTimeMs = fields.duration("slowTokenTime", 0, HOUR_MS, backend.slowTokenTimeMs);
  config.latencyDriftThreshold = fields.factor(
    "latencyDriftThreshold",
    0,
    1000,
    config.latencyDriftThreshold,
  );
  config.latencyDriftMinimumSamples = fields.integer(
    "latencyDriftMinimumSamples",
    1,
    MAX_DRIFT_SAMPLES,
    config.latencyDriftMinimumSamples,
  );
}

/** Fresh values: the lists of two configurations are never one. */
function parseEnforcing(fields: Fields, config: BreakerConfig): void {
  const enforcing = new StaticArray<u8>(TRIGGER_COUNT);
  for (let i = 0; i < TRIGGER_COUNT; i++) {
    enforcing[i] = <u8>percent(fields, TRIGGERS[i], config.enforcing[i]);
  }
  config.enforcing = enforcing;
  fields.close();
}

function percent(fields: Fields, key: string, fallback: i32): i32 {
  return fields.integer(key, 0, 100, fallback);
}
