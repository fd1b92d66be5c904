import {
  onFirstTokens,
  onOutcome,
  onProbeOutcome,
  Permission,
  permission,
  tryAcquireCanary,
  tryAcquireProbe,
} from "../breaker/breaker";
import { BreakerConfig } from "../breaker/config";
import { FULL_WEIGHT, MAX_WEIGHT, Outcome } from "../breaker/outcome";
import { BackendRecord, initRecord, recordSize } from "../breaker/record";
import { State } from "../breaker/state";
import { noteTransition } from "./transitions";

const SECOND_MS: u64 = 1000;
/** A time at which nothing has happened yet, so that no deadline of 0 has passed. */
const START_MS: u64 = 1000000;
/** Calls of one second that are replayed one by one; busier seconds are thinned out to these. */
const MAX_EVENTS: f64 = 2000;
/** First tokens are filed by the tick, four times a second. */
const TICKS: u32 = 4;
const PROBE_OWNER: u64 = 1;

/** One second as the service recorded it. */
@final
export class Recorded {
  calls: u32 = 0;
  failures: u32 = 0;
  /** Hundredths of a failure. */
  weightedFailures: u32 = 0;
  backpressure: u32 = 0;
  outOfMemory: u32 = 0;
  engineFatal: u32 = 0;
  firstTokens: u32 = 0;
  slowCalls: u32 = 0;
  isWell: bool = false;
}

/**
 * One backend's breaker, driven by recorded seconds. Within a second the order of the calls is not known: failures lie as evenly among
 * the others as can be. What the breaker would have refused is left out; canaries are so many of the second's calls as the ramp
 * takes, and fail as often as these did.
 */
@final
export class Replay {
  refused: f64 = 0;
  private readonly record: BackendRecord;
  private elapsedMs: u64 = 0;
  private random: u32 = 0x9e3779b9;
  /** What thinning out has left over; never more than one call each. */
  private spareSuccesses: f64 = 0;
  private spareFailures: f64 = 0;
  private spareBackpressure: f64 = 0;
  /** Failures that the canaries so far should have had, less those they had. */
  private owedFailures: f64 = 0;

  constructor(private readonly config: BreakerConfig) {
    this.record = changetype<BackendRecord>(heap.alloc(<usize>recordSize(config.slidingWindowSize)));
    initRecord(changetype<usize>(this.record), config.slidingWindowSize, START_MS);
  }

  second(seen: Recorded): void {
    this.probe(seen.isWell);
    if (permission(this.record, this.config, this.now()) === Permission.CANARY_ONLY) this.sendCanaries(seen);
    else this.sendCalls(seen);
    this.elapsedMs += SECOND_MS;
  }

  private now(): u64 {
    return START_MS + this.elapsedMs;
  }

  private probe(isWell: bool): void {
    const before = this.record.state;
    if (!tryAcquireProbe(this.record, this.config, this.now(), PROBE_OWNER)) return;
    noteTransition(this.record, before, this.elapsedMs);
    onProbeOutcome(this.record, this.config, this.now(), PROBE_OWNER, isWell, this.draw());
    noteTransition(this.record, State.HALF_OPEN, this.elapsedMs);
    this.owedFailures = 0;
  }

  /** Each step goes to the kind that is most behind its share. */
  private sendCalls(seen: Recorded): void {
    const failed = min(seen.failures, seen.calls);
    const all = <f64>seen.calls + <f64>seen.backpressure;
    const share = all > MAX_EVENTS ? MAX_EVENTS / all : 1;
    this.spareSuccesses += <f64>(seen.calls - failed) * share;
    this.spareFailures += <f64>failed * share;
    this.spareBackpressure += <f64>seen.backpressure * share;
    const successes = Math.floor(this.spareSuccesses);
    const failures = Math.floor(this.spareFailures);
    const backpressure = Math.floor(this.spareBackpressure);
    this.spareSuccesses -= successes;
    this.spareFailures -= failures;
    this.spareBackpressure -= backpressure;
    const count = successes + failures + backpressure;
    let dueSuccess: f64 = 0;
    let dueFailure: f64 = 0;
    let dueBackpressure: f64 = 0;
    let failuresSent: u32 = 0;
    let tick: u32 = 0;
    const startMs = this.now();
    for (let i: f64 = 0; i < count; i++) {
      const now = startMs + <u64>((i * 1000) / count);
      while (tick < TICKS && now >= startMs + (<u64>tick + 1) * (SECOND_MS / TICKS))
        this.file(seen, tick++, startMs);
      dueSuccess += successes;
      dueFailure += failures;
      dueBackpressure += backpressure;
      if (dueFailure > dueSuccess && dueFailure >= dueBackpressure) {
        dueFailure -= count;
        this.end(failureAt(seen, failuresSent++), weightOf(seen), now);
      } else if (dueBackpressure > dueSuccess) {
        dueBackpressure -= count;
        this.end(Outcome.BACKPRESSURE, FULL_WEIGHT, now);
      } else {
        dueSuccess -= count;
        this.end(Outcome.SUCCESS, FULL_WEIGHT, now);
      }
    }
    while (tick < TICKS) this.file(seen, tick++, startMs);
  }

  /** A call ends, if it was let pass. */
  private end(outcome: i32, weight: u32, now: u64): void {
    if (permission(this.record, this.config, now) !== Permission.PERMITTED) {
      this.refused++;
      return;
    }
    this.tell(outcome, weight, 0, now);
  }

  private tell(outcome: i32, weight: u32, permit: u32, now: u64): void {
    const record = this.record;
    const state = record.state;
    const generation = record.generation;
    onOutcome(record, this.config, now, generation, permit, outcome, weight, 0, this.draw());
    if (record.generation !== generation) noteTransition(record, state, now - START_MS);
  }

  /** The tick's quarter of the second's first tokens. */
  private file(seen: Recorded, tick: u32, startMs: u64): void {
    const record = this.record;
    if (permission(record, this.config, startMs) !== Permission.PERMITTED) return;
    const calls = quarterOf(seen.firstTokens, tick);
    if (calls === 0) return;
    const state = record.state;
    const generation = record.generation;
    const now = startMs + (<u64>tick + 1) * (SECOND_MS / TICKS) - 1;
    const slow = min(calls, quarterOf(seen.slowCalls, tick));
    // The latest ones: their order within the tick is not known.
    const slowInARow = slow < calls ? 0 : calls;
    onFirstTokens(record, this.config, now, generation, calls, slow, slowInARow, this.draw());
    if (record.generation !== generation) noteTransition(record, state, now - START_MS);
  }

  /** So many canaries as the stage draws from the second's calls, one at least; each is over before the next begins. */
  private sendCanaries(seen: Recorded): void {
    if (seen.calls === 0) return;
    const percent = percentOf(this.config, this.record.stage);
    const canaries = max<u32>(1, <u32>min<u64>((<u64>seen.calls * percent) / 100, <u64>MAX_EVENTS));
    this.refused += <f64>(seen.calls - min(canaries, seen.calls));
    const failing = <f64>seen.failures / <f64>seen.calls;
    const stepMs = SECOND_MS / <u64>max<u32>(canaries, 1);
    for (let i: u32 = 0; i < canaries; i++) {
      const now = this.now() + <u64>i * stepMs;
      if (permission(this.record, this.config, now) !== Permission.CANARY_ONLY) return;
      const permit = tryAcquireCanary(this.record, this.config, now);
      if (permit === 0) return;
      this.owedFailures += failing;
      const fails = this.owedFailures >= 1;
      if (fails) this.owedFailures -= 1;
      this.tell(fails ? Outcome.FAILURE : Outcome.SUCCESS, FULL_WEIGHT, permit, now);
    }
  }

  /** The draws of `enforcingPercent` and the waits' jitter: the same in each run. */
  private draw(): u32 {
    this.random ^= this.random << 13;
    this.random ^= this.random >> 17;
    this.random ^= this.random << 5;
    return this.random;
  }
}

/** As the ramp goes by it: without a stage of its own the default one. */
function percentOf(config: BreakerConfig, stage: i32): u32 {
  const count = config.stages.length;
  return count === 0 ? 5 : <u32>config.stages[min(max(stage, 1), count) - 1].percent;
}

function failureAt(seen: Recorded, index: u32): i32 {
  if (index < seen.engineFatal) return Outcome.ENGINE_FATAL;
  return index < seen.engineFatal + seen.outOfMemory ? Outcome.OUT_OF_MEMORY : Outcome.FAILURE;
}

/** The second's mean. */
function weightOf(seen: Recorded): u32 {
  return seen.failures === 0 ? FULL_WEIGHT : min(seen.weightedFailures / seen.failures, MAX_WEIGHT);
}

function quarterOf(count: u32, tick: u32): u32 {
  return <u32>((<u64>count * (<u64>tick + 1)) / TICKS - (<u64>count * <u64>tick) / TICKS);
}
