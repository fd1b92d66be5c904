// A backend's trend in shared data: first-token times against their own baseline, and money per minute. Written by ticks only.
import { LatencyView } from "./breaker/latency";
import { Cause } from "./breaker/state";
import {
  fileFirstTokens,
  fileSpend,
  forgetLatency,
  initTrend,
  isTrendValid,
  judgeCost,
  judgeLatency,
  spendPerMinute,
  TREND_SIZE,
  TrendRecord,
  viewLatency,
} from "./breaker/trend";
import { allocate } from "./host/arena";
import { resultPtr, resultSize } from "./host/result";
import { MAX_TRIES, readShared, replaceShared } from "./host/shared-data";
import { Backend } from "./policy/policy";

/** Before the trend stands the generation that its first tokens are of: an opening's must not open again. */
const HEAD_SIZE: i32 = 8;
const SIZE: i32 = HEAD_SIZE + TREND_SIZE;

/**
 * Adds this VM's facts. A backend's spending is filed whatever its state; its times only while it is well.
 * @returns why it must open, or NONE
 */
export function updateTrend(backend: Backend, now: u64, isWatched: bool): i32 {
  const facts = backend.facts;
  const config = backend.breaker;
  const spend = <u64>facts.spend;
  if (!isWatched && spend === 0) return Cause.NONE;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const isThere = readShared(backend.trendKey);
    const isWhole = isThere && resultSize() === SIZE;
    const at = isWhole ? resultPtr() : allocate(SIZE);
    if (at === 0) return Cause.NONE;
    const trendPtr = at + HEAD_SIZE;
    if (!isWhole || !isTrendValid(trendPtr, TREND_SIZE)) {
      store<u32>(at, facts.generation);
      initTrend(trendPtr, now);
    }
    const trend = changetype<TrendRecord>(trendPtr);
    let cause: i32 = Cause.NONE;
    if (spend > 0) {
      fileSpend(trend, spend, now);
      if (judgeCost(trend, config, now)) cause = Cause.COST_RATE;
    }
    if (isWatched) {
      if (load<u32>(at) !== facts.generation) forgetLatency(trend, now);
      store<u32>(at, facts.generation);
      fileFirstTokens(trend, changetype<usize>(facts.firstTokens), facts.samples, now);
      if (judgeLatency(trend, config, now, true)) cause = Cause.LATENCY_DRIFT;
    }
    if (!replaceShared(backend.trendKey, at, SIZE, isThere)) continue;
    facts.spend -= <f64>spend;
    return cause;
  }
  return Cause.NONE;
}

/** What {@link readLatency} has found last. */
export const latency: LatencyView = new LatencyView();

/** Looks up a backend's first tokens; false when there are none of late. */
export function readLatency(backend: Backend, now: u64): bool {
  const trendPtr = readTrend(backend);
  if (trendPtr === 0) return false;
  viewLatency(changetype<TrendRecord>(trendPtr), latency, now);
  return latency.samples > 0;
}

/** Looks up what a backend has cost in the last minute, in millionths of the currency. */
export function readSpend(backend: Backend, now: u64): u64 {
  const trendPtr = readTrend(backend);
  return trendPtr === 0 ? 0 : spendPerMinute(changetype<TrendRecord>(trendPtr), now);
}

/** A copy of the trend in scratch memory; 0 when there is none. */
function readTrend(backend: Backend): usize {
  if (!readShared(backend.trendKey) || resultSize() !== SIZE) return 0;
  const trendPtr = resultPtr() + HEAD_SIZE;
  return isTrendValid(trendPtr, TREND_SIZE) ? trendPtr : 0;
}
