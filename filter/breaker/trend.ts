import { stepBackMs } from "./clock";
import { BreakerConfig } from "./config";
import {
  describeLatency,
  fileLatency,
  forgetSamples,
  isDrifting,
  isLatencyValid,
  LATENCY_SIZE,
  Latency,
  LatencyView,
  latencyBaselineMs,
  shiftLatency,
} from "./latency";
import { addSpend, advanceSpend, isBeyondBudget, isSpendValid, SPEND_SIZE, Spend, shiftSpend } from "./spend";

/*
 * The seam to a backend's second record: what is judged over minutes, and needs no atomicity with the state machine. It is
 * apart from the first one so that a request reads and writes only what it needs; a tick brings what was gathered
 * since the last one. Like there, every function works on a copy, and `now` is monotonic milliseconds.
 */

/** "LT" and the layout's number. */
const LAYOUT_VERSION: u32 = 0x4c540001;

/** The bytes in shared data: this header, then the latency, then the spend. */
@unmanaged
export class TrendRecord {
  layoutVersion: u32;
  reserved: u32;
  /** The latest time that this record has seen. */
  clockMs: u64;
}

const LATENCY_OFFSET: usize = offsetof<TrendRecord>();
const SPEND_OFFSET: usize = LATENCY_OFFSET + LATENCY_SIZE;

export const TREND_SIZE: i32 = <i32>(SPEND_OFFSET + SPEND_SIZE);

/** Writes a record that has seen nothing; `TREND_SIZE` bytes at `ptr`. */
export function initTrend(ptr: usize, now: u64): void {
  memory.fill(ptr, 0, TREND_SIZE);
  const trend = changetype<TrendRecord>(ptr);
  trend.layoutVersion = LAYOUT_VERSION;
  trend.clockMs = now;
  spendOf(trend).headStartMs = now;
}

/** Whether `size` bytes at `ptr` are a record of this layout: other fields may hold any bytes without harm. */
export function isTrendValid(ptr: usize, size: i32): bool {
  if (size !== TREND_SIZE) return false;
  const trend = changetype<TrendRecord>(ptr);
  return (
    trend.layoutVersion === LAYOUT_VERSION && isLatencyValid(latencyOf(trend)) && isSpendValid(spendOf(trend))
  );
}

// --- latency ---

/** Files `count` times to a first token, a u32 of milliseconds each. O(count). */
export function fileFirstTokens(trend: TrendRecord, samples: usize, count: i32, now: u64): void {
  const time = advanceClock(trend, now);
  for (let i = 0; i < count; i++) {
    fileLatency(latencyOf(trend), load<u32>(samples + <usize>i * sizeof<u32>()), time);
  }
}

/**
 * Whether the backend's first tokens have drifted from their baseline. To be called after filing, at each tick.
 * @param mayLearn the backend is CLOSED and well: what does not drift goes into the baseline
 */
export function judgeLatency(trend: TrendRecord, config: BreakerConfig, now: u64, mayLearn: bool): bool {
  return isDrifting(latencyOf(trend), config, advanceClock(trend, now), mayLearn);
}

/** Drops all samples, as an opening demands; the baseline stays. */
export function forgetLatency(trend: TrendRecord, now: u64): void {
  advanceClock(trend, now);
  forgetSamples(latencyOf(trend));
}

/** Tells how first tokens are and use to be. */
export function viewLatency(trend: TrendRecord, view: LatencyView, now: u64): void {
  describeLatency(latencyOf(trend), view, advanceClock(trend, now));
}

/** The usual 95th percentile of the time to a first token; 0 when none is learnt yet. */
export function baselineMs(trend: TrendRecord): u32 {
  return latencyBaselineMs(latencyOf(trend));
}

// --- cost ---

/** Files what answers have cost, in millionths of the currency. */
export function fileSpend(trend: TrendRecord, millionths: u64, now: u64): void {
  advanceSpend(spendOf(trend), advanceClock(trend, now));
  addSpend(spendOf(trend), millionths);
}

/** What the last minute has cost, in millionths of the currency. */
export function spendPerMinute(trend: TrendRecord, now: u64): u64 {
  advanceSpend(spendOf(trend), advanceClock(trend, now));
  return spendOf(trend).total;
}

/** Whether the last minute has cost too much for the day's budget. */
export function judgeCost(trend: TrendRecord, config: BreakerConfig, now: u64): bool {
  advanceSpend(spendOf(trend), advanceClock(trend, now));
  return isBeyondBudget(spendOf(trend), config);
}

function advanceClock(trend: TrendRecord, now: u64): u64 {
  const stepMs = stepBackMs(trend.clockMs, now);
  if (stepMs !== 0) {
    shiftLatency(latencyOf(trend), stepMs);
    shiftSpend(spendOf(trend), stepMs);
    trend.clockMs = now;
  }
  trend.clockMs = max(trend.clockMs, now);
  return trend.clockMs;
}

function latencyOf(trend: TrendRecord): Latency {
  return changetype<Latency>(changetype<usize>(trend) + LATENCY_OFFSET);
}

function spendOf(trend: TrendRecord): Spend {
  return changetype<Spend>(changetype<usize>(trend) + SPEND_OFFSET);
}
