import { clamp } from "./arithmetic";
import { TRIGGER_COUNT } from "./config";

export const MAX_BUCKETS: i32 = 120;
export const MAX_PERMITS: i32 = 16;
/** Transitions that the record remembers. A power of two. */
export const HISTORY_SIZE: i32 = 8;

/** "LB" and the layout's number. Any change of the layout takes a new number; older bytes are then started afresh. */
const LAYOUT_VERSION: u32 = 0x4c420004;

/** A canary's slot; free when `id` is 0 or the deadline has passed. */
@unmanaged
export class Permit {
  deadlineMs: u64;
  id: u32;
  reserved: u32;
}

/** One transition, and what the window showed when it happened. */
@unmanaged
export class Transition {
  atMs: u64;
  /** Of the wait that it began; 0 unless to OPEN. */
  waitMs: u64;
  /** The one that it led to; 0 = nothing was written here. */
  generation: u32;
  from: i32;
  to: i32;
  stage: i32;
  cause: i32;
  openings: i32;
  calls: u32;
  /** Hundredths of a failure. */
  weightedFailures: u32;
  consecutiveFailures: i32;
  reserved: u32;
}

/** One second's facts. */
@unmanaged
export class Bucket {
  /** Successes and failures: what the failure rate is a share of. */
  calls: u32;
  /** Those that weigh anything. */
  failures: u32;
  /** Hundredths of a failure. */
  weightedFailures: u32;
  backpressure: u32;
  outOfMemory: u32;
  /** Calls with a first token or its timeout. */
  firstTokens: u32;
  slowCalls: u32;
}

/**
 * All that the gateway knows about one backend, as the bytes that lie in shared data: this header, then
 * a deadline for each trigger, then `MAX_PERMITS` permits, then the ring of the last `HISTORY_SIZE` transitions, then the ring of `bucketCount`
 * buckets. State, window and history share one record so that a transition, the outcome that caused it and what is told of it are one
 * compare-and-swap, atomic over all workers.
 * Times are monotonic milliseconds. Little endian, 8-byte fields first within each group.
 */
@unmanaged
export class BackendRecord {
  layoutVersion: u32;
  bucketCount: i32;

  /** The latest time that this record has seen. */
  clockMs: u64;
  stateSinceMs: u64;
  /** End of the wait in OPEN. */
  openUntilMs: u64;
  probeLeaseUntilMs: u64;
  /** Who sends the probe; meaningful in HALF_OPEN, stage 0 only. */
  probeOwner: u64;
  /** When the ramp began or last took a canary. */
  lastCanaryMs: u64;
  /** Start of the ring's newest bucket. */
  headStartMs: u64;
  /** End of the longest wait that the backend asked for by Retry-After, and when it last asked for any. */
  retryAfterUntilMs: u64;
  retryAfterToldMs: u64;
  /** When the first of the failures in a row was seen. */
  failingSinceMs: u64;
  /** Version of the last move from outside that this record knows of; it never falls. */
  track: u64;

  state: i32;
  /** In HALF_OPEN: 0 = probing, n = stage n of the ramp. 0 otherwise. */
  stage: i32;
  /** Grows with every transition; 0 is never used. An outcome of another generation has no vote. */
  generation: u32;
  /** Openings in a row, the exponent of the wait. */
  openings: i32;
  /** Why the last transition happened. */
  lastCause: i32;
  consecutiveFailures: i32;
  consecutiveSlowCalls: i32;
  stageSuccesses: i32;
  nextPermitId: u32;
  /** Whether this opening began by the triggers of this gateway, not by the word of others. Stands until CLOSED. */
  isEvidence: u32;
  /** Whether triggers are quiet since a forced mode only reported them. */
  isQuietByMode: u32;

  /** Index of the ring's newest bucket. */
  head: i32;
  totalCalls: u32;
  totalFailures: u32;
  /** Hundredths of a failure. */
  totalWeightedFailures: u32;
  totalBackpressure: u32;
  totalOutOfMemory: u32;
  totalFirstTokens: u32;
  totalSlowCalls: u32;
  reserved: u32;
}

const QUIET_OFFSET: usize = offsetof<BackendRecord>();
const PERMITS_OFFSET: usize = QUIET_OFFSET + <usize>TRIGGER_COUNT * sizeof<u64>();
const HISTORY_OFFSET: usize = PERMITS_OFFSET + <usize>MAX_PERMITS * offsetof<Permit>();
const RING_OFFSET: usize = HISTORY_OFFSET + <usize>HISTORY_SIZE * offsetof<Transition>();

/** Bytes of the largest record. */
export const MAX_RECORD_SIZE: i32 = <i32>(RING_OFFSET + <usize>MAX_BUCKETS * offsetof<Bucket>());

/** Bytes of a record with so many one-second buckets; counts outside [1, `MAX_BUCKETS`] are moved into it. */
export function recordSize(bucketCount: i32): i32 {
  return <i32>(RING_OFFSET + <usize>clamp(bucketCount, 1, MAX_BUCKETS) * offsetof<Bucket>());
}

/** Writes the head of a CLOSED record, without window and permits. */
export function initHead(ptr: usize): void {
  memory.fill(ptr, 0, offsetof<BackendRecord>());
  changetype<BackendRecord>(ptr).layoutVersion = LAYOUT_VERSION;
}

/** Writes a CLOSED record that has seen nothing; `recordSize(bucketCount)` bytes at `ptr`. */
export function initRecord(ptr: usize, bucketCount: i32, now: u64): void {
  memory.fill(ptr, 0, recordSize(bucketCount));
  const record = changetype<BackendRecord>(ptr);
  record.layoutVersion = LAYOUT_VERSION;
  record.bucketCount = clamp(bucketCount, 1, MAX_BUCKETS);
  record.clockMs = now;
  record.stateSinceMs = now;
  record.headStartMs = now;
  record.generation = 1;
}

/**
 * Whether `size` bytes at `ptr` are a record of this layout. Reads nothing beyond `size`. What passes can be given to
 * every function of the breaker: other fields may hold any bytes without harm.
 */
export function isRecordValid(ptr: usize, size: i32): bool {
  if (size < recordSize(1)) return false;
  const record = changetype<BackendRecord>(ptr);
  if (record.layoutVersion !== LAYOUT_VERSION) return false;
  if (record.bucketCount < 1 || record.bucketCount > MAX_BUCKETS) return false;
  if (recordSize(record.bucketCount) !== size) return false;
  return <u32>record.state <= 2 && <u32>record.head < <u32>record.bucketCount;
}

/**
 * Carries a record over to another window size, as a config push demands: state, generation, streak, permits, history
 * and deadlines stay, the window starts empty. Bytes that are no record give a fresh one. The two may overlap.
 * `to` has room for `recordSize(bucketCount)` bytes.
 */
export function adaptRecord(from: usize, fromSize: i32, to: usize, bucketCount: i32, now: u64): void {
  if (!isRecordValid(from, fromSize)) {
    initRecord(to, bucketCount, now);
    return;
  }
  memory.copy(to, from, RING_OFFSET);
  const record = changetype<BackendRecord>(to);
  record.bucketCount = clamp(bucketCount, 1, MAX_BUCKETS);
  clearRing(record, now);
}

/** Empties the window; its newest bucket starts at `now`. */
export function clearRing(record: BackendRecord, now: u64): void {
  record.head = 0;
  record.headStartMs = now;
  record.totalCalls = 0;
  record.totalFailures = 0;
  record.totalWeightedFailures = 0;
  record.totalBackpressure = 0;
  record.totalOutOfMemory = 0;
  record.totalFirstTokens = 0;
  record.totalSlowCalls = 0;
  const ringBytes = <usize>clamp(record.bucketCount, 1, MAX_BUCKETS) * offsetof<Bucket>();
  memory.fill(changetype<usize>(record) + RING_OFFSET, 0, ringBytes);
}

/** Until when a trigger, one of `Trigger`, is not drawn again after a detection that was only reported. */
export function quietUntilMs(record: BackendRecord, trigger: i32): u64 {
  return load<u64>(changetype<usize>(record) + QUIET_OFFSET + <usize>trigger * sizeof<u64>());
}

export function setQuietUntilMs(record: BackendRecord, trigger: i32, untilMs: u64): void {
  store<u64>(changetype<usize>(record) + QUIET_OFFSET + <usize>trigger * sizeof<u64>(), untilMs);
}

/** The bucket at an index below `MAX_BUCKETS`. */
export function bucketAt(record: BackendRecord, index: i32): Bucket {
  return changetype<Bucket>(changetype<usize>(record) + RING_OFFSET + <usize>index * offsetof<Bucket>());
}

/** The permit slot at an index below `MAX_PERMITS`. */
export function permitAt(record: BackendRecord, index: i32): Permit {
  return changetype<Permit>(changetype<usize>(record) + PERMITS_OFFSET + <usize>index * offsetof<Permit>());
}

/** The place in the history of the transition to a generation; what lies there may be that to another one. */
export function historyAt(record: BackendRecord, generation: u32): Transition {
  const index = generation & <u32>(HISTORY_SIZE - 1);
  return changetype<Transition>(
    changetype<usize>(record) + HISTORY_OFFSET + <usize>index * offsetof<Transition>(),
  );
}
