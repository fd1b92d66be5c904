/** What the model goes by. */
export interface Settings {
  readonly windowSeconds: number;
  readonly minimumCalls: number;
  readonly failureRate: number;
  readonly streak: number;
  readonly outOfMemory: number;
  readonly slowCallRate: number;
  readonly backpressureRate: number;
  readonly backpressureWaitMs: number;
  readonly maxRetryAfterMs: number;
  readonly waitMs: number;
  readonly maxWaitMs: number;
  readonly backoffResetMs: number;
  readonly probeLeaseMs: number;
  readonly noDrawAfterMs: number;
  readonly permitTimeoutMs: number;
  readonly stages: readonly Stage[];
}

export interface Stage {
  readonly percent: number;
  readonly maxConcurrent: number;
  readonly successes: number;
}

/** For schedules: small numbers, so that short ones come to every corner. */
export const settings: Settings = {
  windowSeconds: 5,
  minimumCalls: 3,
  failureRate: 60,
  streak: 3,
  outOfMemory: 2,
  slowCallRate: 50,
  backpressureRate: 70,
  backpressureWaitMs: 3_000,
  maxRetryAfterMs: 20_000,
  waitMs: 1_000,
  maxWaitMs: 8_000,
  backoffResetMs: 10_000,
  probeLeaseMs: 4_000,
  noDrawAfterMs: 2_000,
  permitTimeoutMs: 30_000,
  stages: [
    { percent: 30, maxConcurrent: 2, successes: 2 },
    { percent: 100, maxConcurrent: 3, successes: 2 },
  ],
};

export const modelPolicy = JSON.stringify({
  name: "model",
  backends: {
    gpu: {
      breaker: {
        slidingWindowSize: settings.windowSeconds,
        minimumNumberOfCalls: settings.minimumCalls,
        failureRateThreshold: settings.failureRate,
        consecutiveFailuresThreshold: settings.streak,
        outOfMemoryThreshold: settings.outOfMemory,
        slowCallRateThreshold: settings.slowCallRate,
        consecutiveSlowCallsThreshold: 0,
        backpressureRateThreshold: settings.backpressureRate,
        backpressureWait: `${settings.backpressureWaitMs}ms`,
        maxRetryAfter: `${settings.maxRetryAfterMs}ms`,
        latencyDriftThreshold: 0,
        costRateThreshold: 0,
        waitDurationInOpenState: `${settings.waitMs}ms`,
        maxWaitDurationInOpenState: `${settings.maxWaitMs}ms`,
        backoffResetAfter: `${settings.backoffResetMs}ms`,
        probe: { lease: `${settings.probeLeaseMs}ms`, firstTokenMax: "3s" },
        canary: {
          size: "estimate",
          noDrawAfter: `${settings.noDrawAfterMs}ms`,
          permitTimeout: `${settings.permitTimeoutMs}ms`,
        },
        ramp: settings.stages,
      },
    },
    small: {},
  },
  chains: { chat: { tiers: ["gpu", "small"], sameTierRetries: 0 } },
});
