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
  /** One-second buckets in the window, 1 to `MAX_BUCKETS`. */
  slidingWindowSize: i32 = 30;
  /** Rates do not trip below this number of counted calls. */
  minimumNumberOfCalls: i32 = 10;
  /** Weighted failures per counted calls, in percent, at which the backend opens; 0 = off. */
  failureRateThreshold: i32 = 35;
  /** Failures in a row at which the backend opens; 0 = off. */
  consecutiveFailuresThreshold: i32 = 5;
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
}
