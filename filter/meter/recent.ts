// The time of the last tick: at most 250 ms old, and free. Exact enough for limits of seconds and buckets of one.

let lastTickMs: u64 = 0;

export function recentMs(): u64 {
  return lastTickMs;
}

/** False when the last tick was so near that another root of this VM has done the work. */
export function noteTick(now: u64, leastGapMs: u64): bool {
  if (now - lastTickMs < leastGapMs) return false;
  lastTickMs = now;
  return true;
}
