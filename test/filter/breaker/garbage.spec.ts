import {
  abandonProbe,
  isCanaryDrawn,
  onFirstTokens,
  onOutcome,
  onProbeOutcome,
  onTrend,
  permission,
  releasePermit,
  remainingWaitMs,
  renewPermit,
  tryAcquireCanary,
  tryAcquireIdleCanary,
  tryAcquireProbe,
  tryClose,
} from "../../../filter/breaker/breaker";
import { BreakerConfig, Stage } from "../../../filter/breaker/config";
import { transitionTo } from "../../../filter/breaker/history";
import { Move, onMove } from "../../../filter/breaker/move";
import { stageCap } from "../../../filter/breaker/ramp";
import {
  adaptRecord,
  BackendRecord,
  initRecord,
  isRecordValid,
  MAX_BUCKETS,
  MAX_RECORD_SIZE,
  permitAt,
  recordSize,
} from "../../../filter/breaker/record";
import { restore, Summary } from "../../../filter/breaker/restore";
import { causeName, stateName } from "../../../filter/breaker/state";
import { Xorshift } from "./backend";

const GUARD_BYTES: i32 = 256;
const GUARD: u8 = 0xa5;

const ptr: usize = heap.alloc(<usize>(MAX_RECORD_SIZE + GUARD_BYTES));
const other: usize = heap.alloc(<usize>(MAX_RECORD_SIZE + GUARD_BYTES));
const random = new Xorshift(362436069);

/** Random bytes up to `size`, guard bytes beyond. */
function fillRandom(target: usize, size: i32): void {
  memory.fill(target, GUARD, <usize>(MAX_RECORD_SIZE + GUARD_BYTES));
  for (let i = 0; i < size; i++) store<u8>(target + <usize>i, <u8>random.below(256));
}

function isGuardIntact(target: usize, size: i32): bool {
  for (let i = size; i < MAX_RECORD_SIZE + GUARD_BYTES; i++) {
    if (load<u8>(target + <usize>i) !== GUARD) return false;
  }
  return true;
}

/** Mostly extremes: where arithmetic breaks. */
function anyNumber(): u64 {
  switch (random.below(6)) {
    case 0:
      return 0;
    case 1:
      return u64.MAX_VALUE;
    case 2:
      return <u64>i32.MAX_VALUE;
    case 3:
      return random.below(1000000);
    default:
      return random.next();
  }
}

function anyConfig(): BreakerConfig {
  const config = new BreakerConfig();
  if (random.below(3) === 0) return config;
  config.mode = <i32>random.below(7) - 1;
  config.minimumNumberOfCalls = <i32>anyNumber();
  config.failureRateThreshold = <i32>anyNumber();
  config.consecutiveFailuresThreshold = <i32>anyNumber();
  config.outOfMemoryThreshold = <i32>anyNumber();
  config.failureCountThreshold = <i32>anyNumber();
  config.slowCallRateThreshold = <i32>anyNumber();
  config.consecutiveSlowCallsThreshold = <i32>anyNumber();
  config.backpressureRateThreshold = <i32>anyNumber();
  config.backpressureWaitMs = <u32>anyNumber();
  config.maxRetryAfterMs = <u32>anyNumber();
  config.slidingWindowSize = <i32>anyNumber();
  for (let i = 0; i < config.enforcing.length; i++) config.enforcing[i] = <u8>anyNumber();
  config.waitDurationInOpenStateMs = <u32>anyNumber();
  config.maxWaitDurationInOpenStateMs = <u32>anyNumber();
  config.backoffResetAfterMs = <u32>anyNumber();
  config.probeLeaseMs = <u32>anyNumber();
  config.canaryNoDrawAfterMs = <u32>anyNumber();
  config.permitTimeoutMs = <u32>anyNumber();
  config.isClosingHeld = random.below(2) === 0;
  config.rampShare = <i32>anyNumber();
  config.stages = new StaticArray<Stage>(<i32>random.below(4));
  for (let i = 0; i < config.stages.length; i++) {
    config.stages[i] = new Stage(<i32>anyNumber(), <i32>anyNumber(), <i32>anyNumber());
  }
  return config;
}

const anyMove = new Move();
const anySummary = new Summary();

/** Words from outside, half of them made for this record. */
function sayAnything(record: BackendRecord, config: BreakerConfig): void {
  const move = anyMove;
  move.version = random.below(2) === 0 ? record.track + 1 : anyNumber();
  move.expectedGeneration = random.below(2) === 0 ? record.generation : <u32>anyNumber();
  move.to = random.below(4) === 0 ? <i32>anyNumber() : <i32>random.below(3);
  move.stage = <i32>anyNumber();
  move.openings = <i32>anyNumber();
  move.waitMs = anyNumber();
  move.cause = random.below(4) === 0 ? <i32>anyNumber() : 17 + <i32>random.below(4);
  move.isForAll = random.below(2) === 0;
  move.isOwn = random.below(4) === 0;
  onMove(record, config, anyNumber(), move);
  anySummary.state = <i32>anyNumber();
  anySummary.openings = <i32>anyNumber();
  anySummary.waitMs = anyNumber();
  anySummary.track = anyNumber();
  restore(record, config, anyNumber(), anySummary);
  tryClose(record, config, anyNumber());
  stageCap(record, config);
  transitionTo(record, <u32>anyNumber());
  transitionTo(record, record.generation);
}

/** Every function of the seam once, in any order of states that the bytes may lead to. */
function callAll(config: BreakerConfig): void {
  const record = changetype<BackendRecord>(ptr);
  const knownId = permitAt(record, <i32>random.below(16)).id;
  permission(record, config, anyNumber());
  remainingWaitMs(record, config, anyNumber());
  isCanaryDrawn(record, config, anyNumber(), <u32>anyNumber());
  const taken = tryAcquireCanary(record, config, anyNumber());
  tryAcquireIdleCanary(record, config, anyNumber());
  renewPermit(record, config, taken, anyNumber());
  onOutcome(
    record,
    config,
    anyNumber(),
    record.generation,
    taken,
    <i32>random.below(8) - 1,
    <u32>anyNumber(),
    <u32>anyNumber(),
    <u32>anyNumber(),
  );
  renewPermit(record, config, knownId, anyNumber());
  onOutcome(
    record,
    config,
    anyNumber(),
    record.generation,
    0,
    <i32>random.below(6),
    <u32>anyNumber(),
    <u32>anyNumber(),
    <u32>anyNumber(),
  );
  onOutcome(
    record,
    config,
    anyNumber(),
    <u32>anyNumber(),
    knownId,
    <i32>anyNumber(),
    <u32>anyNumber(),
    <u32>anyNumber(),
    <u32>anyNumber(),
  );
  const calls = <u32>anyNumber();
  onFirstTokens(record, config, anyNumber(), record.generation, calls, <u32>anyNumber(), <u32>anyNumber(), 7);
  onTrend(record, config, anyNumber(), <i32>random.below(24), <u32>anyNumber());
  const owner = random.below(2) === 0 ? record.probeOwner : anyNumber();
  tryAcquireProbe(record, config, anyNumber(), owner);
  if (random.below(2) === 0) onProbeOutcome(record, config, anyNumber(), owner, random.below(2) === 0, 1);
  abandonProbe(record, config, anyNumber(), owner);
  releasePermit(record, <u32>anyNumber());
  sayAnything(record, config);
  causeName(record.lastCause);
  stateName(record.state);
}

describe("bytes that are anything", () => {
  it("are never taken for a record, and become one", () => {
    for (let round = 0; round < 500; round++) {
      const size = <i32>random.below(<u32>MAX_RECORD_SIZE + 1);
      fillRandom(ptr, size);
      expect(isRecordValid(ptr, size)).toBe(false);
      const bucketCount = <i32>random.below(200) - 40;
      memory.fill(other, GUARD, <usize>(MAX_RECORD_SIZE + GUARD_BYTES));
      adaptRecord(ptr, size, other, bucketCount, anyNumber());
      expect(isRecordValid(other, recordSize(bucketCount))).toBe(true);
      expect(isGuardIntact(other, recordSize(bucketCount))).toBe(true);
    }
  });

  it("in a record that passes for valid neither trap, nor write beyond it, nor make it invalid", () => {
    for (let round = 0; round < 3000; round++) {
      const bucketCount = <i32>random.below(<u32>MAX_BUCKETS) + 1;
      const size = recordSize(bucketCount);
      initRecord(other, bucketCount, 0);
      fillRandom(ptr, size);
      const record = changetype<BackendRecord>(ptr);
      record.layoutVersion = changetype<BackendRecord>(other).layoutVersion;
      record.bucketCount = bucketCount;
      record.state = <i32>random.below(3);
      record.head = <i32>random.below(<u32>bucketCount);
      if (random.below(2) === 0) record.stage = <i32>random.below(4);
      if (random.below(2) === 0) record.clockMs = random.below(1000000);
      expect(isRecordValid(ptr, size)).toBe(true);
      const config = anyConfig();
      for (let i = 0; i < 3; i++) callAll(config);
      expect(isRecordValid(ptr, size)).toBe(true);
      expect(isGuardIntact(ptr, size)).toBe(true);
      memory.fill(other, GUARD, <usize>(MAX_RECORD_SIZE + GUARD_BYTES));
      adaptRecord(ptr, size, other, MAX_BUCKETS + 1 - bucketCount, anyNumber());
      expect(isRecordValid(other, recordSize(MAX_BUCKETS + 1 - bucketCount))).toBe(true);
      expect(isGuardIntact(other, recordSize(MAX_BUCKETS + 1 - bucketCount))).toBe(true);
    }
  });

  it("that nobody checked neither trap nor write beyond the largest record", () => {
    for (let round = 0; round < 2000; round++) {
      fillRandom(ptr, MAX_RECORD_SIZE);
      const record = changetype<BackendRecord>(ptr);
      if (random.below(4) !== 0) record.state = <i32>random.below(3);
      if (random.below(2) === 0) record.clockMs = record.headStartMs = random.below(1000000);
      callAll(anyConfig());
      expect(isGuardIntact(ptr, MAX_RECORD_SIZE)).toBe(true);
    }
  });
});
