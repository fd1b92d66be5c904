import { BreakerConfig } from "./config";

/** Doubling more often than this is beyond every cap, and a u32 shifted by it still fits a u64. */
const MAX_DOUBLINGS: i32 = 31;

const MOST_JITTER: u32 = u32.MAX_VALUE;

/**
 * The wait of the n-th opening in a row: `waitDurationInOpenState` × 2^(n−1), capped, then lengthened by 0 to 20 % so
 * that gateways which opened together do not probe together.
 * @param random any u32; 0 gives no jitter
 */
export function openWaitMs(config: BreakerConfig, openings: i32, random: u32): u64 {
  const doublings = min(max(openings, 1) - 1, MAX_DOUBLINGS);
  const doubledMs = (<u64>config.waitDurationInOpenStateMs) << doublings;
  const waitMs = min(doubledMs, <u64>config.maxWaitDurationInOpenStateMs);
  return withJitter(waitMs, random);
}

/** The wait lengthened by 0 to 20 %. A wait of a u32's size, or one of {@link openWaitMs}, does not overflow. */
export function withJitter(waitMs: u64, random: u32): u64 {
  return waitMs + ((waitMs * random) >> 32) / 5;
}

/** The longest wait that makes sense here; who asks from outside for a longer one gets this. */
export function longestWaitMs(config: BreakerConfig): u64 {
  return max<u64>(withJitter(config.maxWaitDurationInOpenStateMs, MOST_JITTER), config.maxRetryAfterMs);
}
