import { clamp, subtractCount } from "./arithmetic";
import { isCounted, isFailure, MAX_WEIGHT, Outcome } from "./outcome";
import { BackendRecord, Bucket, bucketAt, clearRing, MAX_BUCKETS } from "./record";

/*
 * A sliding window of the last `bucketCount` seconds, kept as a circular array of one-second buckets.
 *
 * The head is the newest bucket. When time has moved on by k seconds, the head moves k places; each bucket it lands on
 * holds the oldest second and is evicted: its counts are subtracted from the running totals and it is zeroed. So the
 * totals always equal the sum of the buckets ("subtract on evict"), and after a gap of any length *every* expired bucket
 * is cleared, not one per call: hour-old failures never come back.
 *
 * Reading the totals is O(1). Filing is O(1) amortised: one step per second that passed, at most `bucketCount` in a row.
 * Space is O(bucketCount), 28 bytes each. A clock that goes back means that no time has passed: the call goes into the
 * head. The window covers between bucketCount - 1 and bucketCount seconds, as the newest bucket is still filling.
 */

const BUCKET_MS: u64 = 1000;

/** Moves the window to `now`, evicting all that has expired. */
export function advanceWindow(record: BackendRecord, now: u64): void {
  if (now < record.headStartMs) return;
  const elapsedMs = now - record.headStartMs;
  if (elapsedMs < BUCKET_MS) return;
  const bucketCount = clamp(record.bucketCount, 1, MAX_BUCKETS);
  const steps = elapsedMs / BUCKET_MS;
  if (steps >= <u64>bucketCount) {
    clearRing(record, now - (elapsedMs % BUCKET_MS));
    return;
  }
  record.headStartMs += steps * BUCKET_MS;
  let head = headIndex(record);
  for (let i = <i32>steps; i > 0; i--) {
    head = head + 1 === bucketCount ? 0 : head + 1;
    evict(record, bucketAt(record, head));
  }
  record.head = head;
}

/**
 * Moves the window to `now` and files one outcome in the bucket of that moment. NEUTRAL leaves no trace.
 * @param weight hundredths of a failure; at 0 a failed call is a call, and no failure
 */
export function fileOutcome(record: BackendRecord, outcome: i32, weight: u32, now: u64): void {
  advanceWindow(record, now);
  const bucket = bucketAt(record, headIndex(record));
  if (isCounted(outcome)) {
    fileCall(record, bucket, outcome, isFailure(outcome) ? min(weight, MAX_WEIGHT) : 0);
  } else if (outcome === Outcome.BACKPRESSURE) {
    if (record.totalBackpressure === u32.MAX_VALUE) return;
    record.totalBackpressure++;
    bucket.backpressure++;
  }
}

/** Moves the window to `now` and files calls that went well. */
export function fileSuccesses(record: BackendRecord, calls: u32, now: u64): void {
  advanceWindow(record, now);
  if (record.totalCalls > u32.MAX_VALUE - calls) return;
  record.totalCalls += calls;
  bucketAt(record, headIndex(record)).calls += calls;
}

/** Moves the window to `now` and files calls that had a first token or its timeout, of which some were slow. */
export function fileFirstTokenCalls(record: BackendRecord, calls: u32, slow: u32, now: u64): void {
  advanceWindow(record, now);
  if (record.totalFirstTokens > u32.MAX_VALUE - calls) return;
  const slowCalls = min(slow, calls);
  const bucket = bucketAt(record, headIndex(record));
  record.totalFirstTokens += calls;
  bucket.firstTokens += calls;
  record.totalSlowCalls += slowCalls;
  bucket.slowCalls += slowCalls;
}

/** A count that is full stays full, in bucket and total alike, so that the two never disagree. */
function fileCall(record: BackendRecord, bucket: Bucket, outcome: i32, weight: u32): void {
  if (record.totalCalls === u32.MAX_VALUE || record.totalWeightedFailures > u32.MAX_VALUE - weight) return;
  record.totalCalls++;
  bucket.calls++;
  if (outcome === Outcome.OUT_OF_MEMORY) {
    record.totalOutOfMemory++;
    bucket.outOfMemory++;
  }
  if (weight === 0) return;
  record.totalFailures++;
  bucket.failures++;
  record.totalWeightedFailures += weight;
  bucket.weightedFailures += weight;
}

function evict(record: BackendRecord, bucket: Bucket): void {
  record.totalCalls = subtractCount(record.totalCalls, bucket.calls);
  record.totalFailures = subtractCount(record.totalFailures, bucket.failures);
  record.totalWeightedFailures = subtractCount(record.totalWeightedFailures, bucket.weightedFailures);
  record.totalBackpressure = subtractCount(record.totalBackpressure, bucket.backpressure);
  record.totalOutOfMemory = subtractCount(record.totalOutOfMemory, bucket.outOfMemory);
  record.totalFirstTokens = subtractCount(record.totalFirstTokens, bucket.firstTokens);
  record.totalSlowCalls = subtractCount(record.totalSlowCalls, bucket.slowCalls);
  memory.fill(changetype<usize>(bucket), 0, offsetof<Bucket>());
}

/** Bytes from elsewhere may hold any head; nothing outside the ring is ever touched. */
function headIndex(record: BackendRecord): i32 {
  return <u32>record.head < <u32>clamp(record.bucketCount, 1, MAX_BUCKETS) ? record.head : 0;
}
