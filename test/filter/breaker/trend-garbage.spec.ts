import { BreakerConfig } from "../../../filter/breaker/config";
import {
  baselineMs,
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
} from "../../../filter/breaker/trend";
import { Xorshift } from "./backend";

const GUARD_BYTES: i32 = 256;
const GUARD: u8 = 0xa5;
const SAMPLES: i32 = 64;

const ptr: usize = heap.alloc(<usize>(TREND_SIZE + GUARD_BYTES));
const samples: usize = heap.alloc(<usize>SAMPLES * sizeof<u32>());
const random = new Xorshift(521288629);

function fillRandom(to: usize, size: i32): void {
  for (let i = 0; i < size; i++) store<u8>(to + i, <u8>(random.next() >> 32));
}

function isGuardIntact(): bool {
  for (let i = TREND_SIZE; i < TREND_SIZE + GUARD_BYTES; i++) {
    if (load<u8>(ptr + i) !== GUARD) return false;
  }
  return true;
}

function anyNumber(): u64 {
  const kind = random.below(4);
  if (kind === 0) return random.below(10);
  if (kind === 1) return random.below(10000000);
  return kind === 2 ? u64.MAX_VALUE - random.below(10) : random.next();
}

function callAll(): void {
  const trend = changetype<TrendRecord>(ptr);
  const config = new BreakerConfig();
  if (random.below(2) === 0) {
    config.latencyDriftThreshold = <i32>anyNumber();
    config.latencyDriftMinimumSamples = <i32>anyNumber();
    config.costRateThreshold = <i32>anyNumber();
    config.costPerDay = anyNumber();
  }
  fillRandom(samples, SAMPLES * 4);
  fileFirstTokens(trend, samples, <i32>random.below(<u32>SAMPLES + 1), anyNumber());
  judgeLatency(trend, config, anyNumber(), random.below(2) === 0);
  fileSpend(trend, anyNumber(), anyNumber());
  spendPerMinute(trend, anyNumber());
  judgeCost(trend, config, anyNumber());
  baselineMs(trend);
  if (random.below(4) === 0) forgetLatency(trend, anyNumber());
}

describe("a trend's bytes that are anything", () => {
  it("are never taken for a trend", () => {
    for (let round = 0; round < 500; round++) {
      fillRandom(ptr, TREND_SIZE);
      expect(isTrendValid(ptr, TREND_SIZE)).toBe(false);
    }
    initTrend(ptr, 0);
    expect(isTrendValid(ptr, TREND_SIZE)).toBe(true);
    expect(isTrendValid(ptr, TREND_SIZE - 1)).toBe(false);
    expect(isTrendValid(ptr, TREND_SIZE + 1)).toBe(false);
    expect(isTrendValid(ptr, 0)).toBe(false);
    expect(isTrendValid(ptr, -1)).toBe(false);
  });

  it("neither trap nor write beyond it", () => {
    for (let round = 0; round < 3000; round++) {
      memory.fill(ptr, GUARD, <usize>(TREND_SIZE + GUARD_BYTES));
      fillRandom(ptr, TREND_SIZE);
      for (let i = 0; i < 3; i++) callAll();
      expect(isGuardIntact()).toBe(true);
    }
  });

  it("stay valid once they are", () => {
    initTrend(ptr, 0);
    for (let round = 0; round < 2000; round++) {
      callAll();
      expect(isTrendValid(ptr, TREND_SIZE)).toBe(true);
    }
  });

  it("are a fresh trend's again whatever the memory held", () => {
    memory.fill(ptr, 0xff, <usize>TREND_SIZE);
    initTrend(ptr, 77);
    expect(isTrendValid(ptr, TREND_SIZE)).toBe(true);
    expect(baselineMs(changetype<TrendRecord>(ptr))).toBe(0);
    expect(spendPerMinute(changetype<TrendRecord>(ptr), 77)).toBe(0);
  });
});
