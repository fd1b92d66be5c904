/** How far the breaker of a backend may act. */
export enum Mode {
  ENFORCE,
  /** Everything but the refusing: the state machine runs in full, and every request passes. */
  SHADOW,
  /** Nothing is refused, filed or probed. */
  DISABLED,
  /** Everything is refused; nothing is filed or probed. */
  FORCED_OPEN,
  /** Nothing is refused; outcomes are filed, and a trigger that trips is only reported. */
  FORCED_CLOSED,
}

/** What can open a CLOSED backend. */
export enum Trigger {
  FAILURE_RATE,
  SLOW_CALL_RATE,
  CONSECUTIVE_FAILURES,
  FAILURE_COUNT,
  LATENCY_DRIFT,
  COST_RATE,
  ENGINE_FATAL,
  OUT_OF_MEMORY,
  BACKPRESSURE,
  CONSECUTIVE_SLOW_CALLS,
}

export const TRIGGER_COUNT: i32 = 10;

/** One step of the ramp: which share of eligible requests may be canaries, how many at once, how many must succeed. */
@final
export class Stage {
  constructor(
    /** Share of eligible requests that are drawn, 0 to 100. */
    public percent: i32,
    /** Canaries in flight at once over all workers; moved into [1, `MAX_PERMITS`]. */
    public maxConcurrent: i32,
    /** Successes in a row that end the stage; below 1 it is taken as 1. */
    public successes: i32,
  ) {}
}

/**
 * What the breaker of one backend goes by. Names follow resilience4j, durations are milliseconds, rates percent.
 * Values are validated where the policy is read; here every value is merely harmless.
 */
@final
export class BreakerConfig {
  mode: Mode = Mode.ENFORCE;
  /** One-second buckets in the window, 1 to `MAX_BUCKETS`. */
  slidingWindowSize: i32 = 30;
  /** Rates do not trip below this number of counted calls. */
  minimumNumberOfCalls: i32 = 10;
  /** Weighted failures per counted calls, in percent, at which the backend opens; 0 = off. */
  failureRateThreshold: i32 = 35;
  /** Failures in a row at which the backend opens; 0 = off. */
  consecutiveFailuresThreshold: i32 = 5;
  /** Failures within the window at which the backend opens, whatever the rate; 0 = off. */
  failureCountThreshold: i32 = 0;
  /** Slow calls per calls with a first token or its timeout, in percent, at which the backend opens; 0 = off. */
  slowCallRateThreshold: i32 = 40;
  /** Calls in a row with a slow first token, or none after as long, at which the backend opens; 0 = off. */
  consecutiveSlowCallsThreshold: i32 = 10;
  /** A first token later than this, plus the share of each prompt token, is slow. */
  slowFirstTokenThresholdMs: u32 = 8000;
  slowFirstTokenPerPromptTokenMs: u32 = 2;
  /** Backpressure per successes, failures and backpressure, in percent, at which the backend opens; 0 = off. */
  backpressureRateThreshold: i32 = 80;
  /** The least wait when backpressure opens and no answer told a Retry-After. */
  backpressureWaitMs: u32 = 15000;
  /** A Retry-After beyond this is taken for this. */
  maxRetryAfterMs: u32 = 300000;
  /** Percent of its own baseline above which the first token's percentile has drifted; 0 = off. */
  latencyDriftThreshold: i32 = 300;
  /** Samples below which no drift is judged; moved into [1, 300], what the trend holds at least when it is full. */
  latencyDriftMinimumSamples: i32 = 100;
  /** Percent of the day's budget, spent evenly, above which a minute costs too much; 0 = off. */
  costRateThreshold: i32 = 300;
  /** The day's budget in millionths of the currency; 0 = none, and no cost is judged. */
  costPerDay: u64 = 0;
  /** Percent of a trigger's detections that open, by `Trigger`; the others are only reported. */
  enforcing: StaticArray<u8> = allEnforced();
  /** Whether one sign of a dead engine or a broken GPU opens at once. */
  engineFatalEnabled: bool = true;
  /** Out-of-memory failures within the window at which the backend opens; 0 = off. */
  outOfMemoryThreshold: i32 = 2;
  /** The first opening's wait. An engine needs 2 to 5 s after it ran out of GPU memory. */
  waitDurationInOpenStateMs: u32 = 5000;
  /** Cap of the doubled wait, before jitter. */
  maxWaitDurationInOpenStateMs: u32 = 120000;
  /** Time in CLOSED after which the next opening counts as the first again; 0 = at once. */
  backoffResetAfterMs: u32 = 60000;
  /** How long a prober may be silent before another takes over. */
  probeLeaseMs: u32 = 10000;
  /** When no canary was taken for so long, the next eligible request is one whatever the draw says. */
  canaryNoDrawAfterMs: u32 = 10000;
  /** A canary's permit dies so long after the last sign of life. */
  permitTimeoutMs: u32 = 30000;
  /** The ramp, in order; an empty list means the default stage, since a ramp without a stage could never end. */
  stages: StaticArray<Stage> = [new Stage(5, 2, 5)];
  /** Percent of the KV cache in use from which on a recovered backend stays HALF_OPEN; 0 = its use is not looked at. */
  kvCacheUseThreshold: i32 = 75;

  // What the tick sets by the service's directives; all the rest is the policy's.

  /** The engine's KV cache is too full, or its signals are stale: the ramp's last stage does not close. */
  isClosingHeld: bool = false;
  /** This gateway's share of a stage's `maxConcurrent`; -1 = it stands alone and has all of it. */
  rampShare: i32 = -1;
}

function allEnforced(): StaticArray<u8> {
  const percents = new StaticArray<u8>(TRIGGER_COUNT);
  percents.fill(100);
  return percents;
}
