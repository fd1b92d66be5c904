import { clamp, subtractCount } from "./arithmetic";
import { failureWeight, isCounted, Outcome } from "./outcome";
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
 * Space is O(bucketCount), 24 bytes each. A clock that goes back means that no time has passed: the call goes into the
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

/** Moves the window to `now` and files one outcome in the bucket of that moment. NEUTRAL leaves no trace. */
export function fileOutcome(record: BackendRecord, outcome: i32, now: u64): void {
  advanceWindow(record, now);
  const bucket = bucketAt(record, headIndex(record));
  if (outcome === Outcome.SUCCESS) {
    if (record.totalSuccesses === u32.MAX_VALUE) return;
    record.totalSuccesses++;
    bucket.successes++;
  } else if (isCounted(outcome)) {
    fileFailure(record, bucket, outcome);
  } else if (outcome === Outcome.BACKPRESSURE) {
    if (record.totalBackpressure === u32.MAX_VALUE) return;
    record.totalBackpressure++;
    bucket.backpressure++;
  }
}

/** Successes and failures in the window: what a rate is a share of. */
export function countedCalls(record: BackendRecord): u64 {
  return <u64>record.totalSuccesses + record.totalFailures;
}

/** A count that is full stays full, in bucket and total alike, so that the two never disagree. */
function fileFailure(record: BackendRecord, bucket: Bucket, outcome: i32): void {
  const weight = failureWeight(outcome);
  if (record.totalFailures === u32.MAX_VALUE || record.totalWeightedFailures > u32.MAX_VALUE - weight) return;
  record.totalFailures++;
  bucket.failures++;
  record.totalWeightedFailures += weight;
  bucket.weightedFailures += weight;
  if (outcome === Outcome.OUT_OF_MEMORY) {
    record.totalOutOfMemory++;
    bucket.outOfMemory++;
  }
}

function evict(record: BackendRecord, bucket: Bucket): void {
  record.totalSuccesses = subtractCount(record.totalSuccesses, bucket.successes);
  record.totalFailures = subtractCount(record.totalFailures, bucket.failures);
  record.totalWeightedFailures = subtractCount(record.totalWeightedFailures, bucket.weightedFailures);
  record.totalBackpressure = subtractCount(record.totalBackpressure, bucket.backpressure);
  record.totalOutOfMemory = subtractCount(record.totalOutOfMemory, bucket.outOfMemory);
  memory.fill(changetype<usize>(bucket), 0, offsetof<Bucket>());
}

/** Bytes from elsewhere may hold any head; nothing outside the ring is ever touched. */
function headIndex(record: BackendRecord): i32 {
  return <u32>record.head < <u32>clamp(record.bucketCount, 1, MAX_BUCKETS) ? record.head : 0;
}
