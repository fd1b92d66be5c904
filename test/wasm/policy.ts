type Json = Readonly<Record<string, unknown>>;

/** A policy of three tiers; what a test cares about is merged into the breaker or the chain. */
export function policyWith(breaker: Json = {}, chain: Json = {}): string {
  return JSON.stringify({
    name: "test",
    breaker: { canary: { size: "estimate" }, ...breaker },
    backends: { gpu: {}, small: {}, public: {} },
    chains: { chat: { tiers: ["gpu", "small", "public"], maxAttempts: 4, sameTierRetries: 0, ...chain } },
  });
}

/** Opens on exactly so many failures and on nothing else. */
export function opensOn(failures: number): Json {
  return {
    minimumNumberOfCalls: failures,
    failureRateThreshold: 100,
    consecutiveFailuresThreshold: 0,
    outOfMemoryThreshold: 0,
    consecutiveSlowCallsThreshold: 0,
    engineFatal: false,
  };
}

/** Never opens, whatever comes. */
export const neverOpens: Json = { ...opensOn(1_000_000), slidingWindowSize: 120 };
