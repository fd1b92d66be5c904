import { multiplySaturating, subtractSaturating } from "./arithmetic";
import { BreakerConfig } from "./config";

/*
 * What a backend has cost in the last minute: a ring of one-second buckets with a running total, evicted by subtraction
 * like the window of calls. Amounts are millionths of the currency. Filing is O(1) amortised, at most a step per bucket.
 */

const BUCKET_COUNT: i32 = 60;
const BUCKET_MS: u64 = 1000;
const MINUTES_PER_DAY: u64 = 1440;

/** A backend's spend: this header, then the buckets, a u64 each. */
@unmanaged
export class Spend {
  /** Start of the newest bucket. */
  headStartMs: u64;
  total: u64;
  head: i32;
  reserved: u32;
}

export const SPEND_SIZE: usize = offsetof<Spend>() + <usize>BUCKET_COUNT * sizeof<u64>();

export function isSpendValid(spend: Spend): bool {
  return <u32>spend.head < <u32>BUCKET_COUNT;
}

/** Moves all times back with a clock that stepped. */
export function shiftSpend(spend: Spend, stepMs: u64): void {
  spend.headStartMs = subtractSaturating(spend.headStartMs, stepMs);
}

/** Moves the minute to `now`, evicting all that has expired. */
export function advanceSpend(spend: Spend, now: u64): void {
  const seconds = subtractSaturating(now, spend.headStartMs) / BUCKET_MS;
  spend.headStartMs += seconds * BUCKET_MS;
  for (let i = <i32>min<u64>(seconds, BUCKET_COUNT); i > 0; i--) {
    spend.head = (spend.head + 1) % BUCKET_COUNT;
    const bucket = bucketAt(spend);
    spend.total = subtractSaturating(spend.total, load<u64>(bucket));
    store<u64>(bucket, 0);
  }
}

/** Adds to the newest bucket; a total that is full stays full. */
export function addSpend(spend: Spend, millionths: u64): void {
  const amount = min(millionths, u64.MAX_VALUE - spend.total);
  const bucket = bucketAt(spend);
  spend.total += amount;
  store<u64>(bucket, load<u64>(bucket) + amount);
}

/** Whether a minute's spend is beyond the configured multiple of the day's budget spread evenly. Nothing is divided. */
export function isBeyondBudget(spend: Spend, config: BreakerConfig): bool {
  const threshold = config.costRateThreshold;
  if (threshold <= 0 || config.costPerDay === 0) return false;
  const spent = multiplySaturating(spend.total, MINUTES_PER_DAY * 100);
  return spent > multiplySaturating(config.costPerDay, threshold);
}

function bucketAt(spend: Spend): usize {
  const safe = <usize>(<u32>spend.head % <u32>BUCKET_COUNT);
  return changetype<usize>(spend) + offsetof<Spend>() + safe * sizeof<u64>();
}
