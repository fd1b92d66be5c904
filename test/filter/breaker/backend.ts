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
import { Move, onMove } from "../../../filter/breaker/move";
import { FULL_WEIGHT, Outcome } from "../../../filter/breaker/outcome";
import {
  BackendRecord,
  bucketAt,
  initRecord,
  MAX_BUCKETS,
  MAX_RECORD_SIZE,
} from "../../../filter/breaker/record";
import { State } from "../../../filter/breaker/state";

/** A draw that every percentage above 0 takes, and one that only 100 % takes. */
export const DRAWN: u32 = 0;
export const NOT_DRAWN: u32 = u32.MAX_VALUE;

/** One backend under simulated time, without jitter unless it is set. */
@final
export class Backend {
  record: BackendRecord = changetype<BackendRecord>(heap.alloc(<usize>MAX_RECORD_SIZE));
  config: BreakerConfig = new BreakerConfig();
  now: u64 = 1000000;
  jitter: u32 = 0;

  constructor(bucketCount: i32 = 30) {
    this.config.slidingWindowSize = bucketCount;
    initRecord(changetype<usize>(this.record), bucketCount, this.now);
  }

  /** Only the failure rate can open it. */
  static withRateOnly(bucketCount: i32, minimumNumberOfCalls: i32, failureRateThreshold: i32): Backend {
    const backend = new Backend(bucketCount);
    backend.config.minimumNumberOfCalls = minimumNumberOfCalls;
    backend.config.failureRateThreshold = failureRateThreshold;
    backend.config.consecutiveFailuresThreshold = 0;
    backend.config.outOfMemoryThreshold = 0;
    backend.config.slowCallRateThreshold = 0;
    backend.config.backpressureRateThreshold = 0;
    return backend;
  }

  wait(durationMs: u64): this {
    this.now += durationMs;
    return this;
  }

  /** Files outcomes of the present generation without a permit; the last verdict. */
  file(outcome: i32, times: i32 = 1, weight: u32 = FULL_WEIGHT): i32 {
    let verdict = 0;
    for (let i = 0; i < times; i++) {
      verdict = onOutcome(
        this.record,
        this.config,
        this.now,
        this.record.generation,
        0,
        outcome,
        weight,
        0,
        this.jitter,
      );
    }
    return verdict;
  }

  finish(
    generation: u32,
    permitId: u32,
    outcome: i32,
    retryAfterMs: u32 = 0,
    weight: u32 = FULL_WEIGHT,
  ): i32 {
    return onOutcome(
      this.record,
      this.config,
      this.now,
      generation,
      permitId,
      outcome,
      weight,
      retryAfterMs,
      this.jitter,
    );
  }

  /** Files first tokens of the present generation. */
  firstTokens(calls: u32, slow: u32, slowInARow: u32 = slow < calls ? 0 : calls): i32 {
    return onFirstTokens(
      this.record,
      this.config,
      this.now,
      this.record.generation,
      calls,
      slow,
      slowInARow,
      this.jitter,
    );
  }

  /** Ends requests of the present generation by backpressure that tells a wait, or none at 0. */
  throttle(retryAfterMs: u32, times: i32 = 1): i32 {
    let verdict = 0;
    for (let i = 0; i < times; i++) {
      verdict = this.finish(this.record.generation, 0, Outcome.BACKPRESSURE, retryAfterMs);
    }
    return verdict;
  }

  trend(cause: i32): i32 {
    return onTrend(this.record, this.config, this.now, cause, this.jitter);
  }

  /** Takes a permit and ends with this outcome; the verdict, or -1 when no permit was to be had. */
  canary(outcome: i32): i32 {
    const generation = this.record.generation;
    const id = this.acquire();
    return id === 0 ? -1 : this.finish(generation, id, outcome);
  }

  acquire(): u32 {
    return tryAcquireCanary(this.record, this.config, this.now);
  }

  acquireIdle(): u32 {
    return tryAcquireIdleCanary(this.record, this.config, this.now);
  }

  renew(id: u32): bool {
    return renewPermit(this.record, this.config, id, this.now);
  }

  release(id: u32): bool {
    return releasePermit(this.record, id);
  }

  isDrawn(random: u32): bool {
    return isCanaryDrawn(this.record, this.config, this.now, random);
  }

  permission(): i32 {
    return permission(this.record, this.config, this.now);
  }

  remainingWaitMs(): u64 {
    return remainingWaitMs(this.record, this.config, this.now);
  }

  probe(owner: u64): bool {
    return tryAcquireProbe(this.record, this.config, this.now, owner);
  }

  probeOutcome(owner: u64, success: bool): i32 {
    return onProbeOutcome(this.record, this.config, this.now, owner, success, this.jitter);
  }

  abandon(owner: u64): i32 {
    return abandonProbe(this.record, this.config, this.now, owner);
  }

  /** Asks as the tick does whether a held ramp may close. */
  tick(): i32 {
    return tryClose(this.record, this.config, this.now);
  }

  /** A word of the group for all, made for the record as it is. */
  word(to: i32, cause: i32, version: u64): Move {
    const move = new Move();
    move.version = version;
    move.expectedGeneration = this.record.generation;
    move.to = to;
    move.stage = to === State.HALF_OPEN ? 1 : 0;
    move.cause = cause;
    move.isForAll = true;
    return move;
  }

  move(move: Move): i32 {
    return onMove(this.record, this.config, this.now, move);
  }

  stages(first: Stage, second: Stage): this {
    this.config.stages = [first, second];
    return this;
  }

  /** From CLOSED to OPEN by a dead engine. */
  open(): this {
    this.file(Outcome.ENGINE_FATAL);
    return this;
  }

  /** From CLOSED or OPEN to the ramp's first stage, through a probe that owner 1 sends. */
  ramp(): this {
    this.open();
    this.now = max(this.now, this.record.openUntilMs);
    this.probe(1);
    this.probeOutcome(1, true);
    return this;
  }

  /** From the ramp to CLOSED, canary by canary. */
  close(): this {
    for (let i = 0; i < 1000 && this.record.state !== 0; i++) this.canary(Outcome.SUCCESS);
    return this;
  }

  calls(): u32 {
    return this.record.totalCalls;
  }
}

/** Whether every running total is the sum of its buckets. */
export function totalsMatchBuckets(record: BackendRecord): bool {
  let calls: u64 = 0;
  let failures: u64 = 0;
  let weightedFailures: u64 = 0;
  let backpressure: u64 = 0;
  let outOfMemory: u64 = 0;
  let firstTokens: u64 = 0;
  let slowCalls: u64 = 0;
  for (let i = 0; i < min(record.bucketCount, MAX_BUCKETS); i++) {
    const bucket = bucketAt(record, i);
    calls += bucket.calls;
    failures += bucket.failures;
    weightedFailures += bucket.weightedFailures;
    backpressure += bucket.backpressure;
    outOfMemory += bucket.outOfMemory;
    firstTokens += bucket.firstTokens;
    slowCalls += bucket.slowCalls;
  }
  return (
    calls === record.totalCalls &&
    failures === record.totalFailures &&
    weightedFailures === record.totalWeightedFailures &&
    backpressure === record.totalBackpressure &&
    outOfMemory === record.totalOutOfMemory &&
    firstTokens === record.totalFirstTokens &&
    slowCalls === record.totalSlowCalls
  );
}

/** xorshift64: the same sequence on every run. */
@final
export class Xorshift {
  constructor(private state: u64) {}

  next(): u64 {
    let x = this.state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    this.state = x;
    return x;
  }

  below(limit: u32): u32 {
    return <u32>((this.next() >> 32) % limit);
  }
}
