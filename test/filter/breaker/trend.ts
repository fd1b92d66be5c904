import { BreakerConfig } from "../../../filter/breaker/config";
import {
  baselineMs,
  fileFirstTokens,
  fileSpend,
  forgetLatency,
  initTrend,
  judgeCost,
  judgeLatency,
  spendPerMinute,
  TREND_SIZE,
  TrendRecord,
} from "../../../filter/breaker/trend";

const MAX_BATCH: i32 = 4096;
const batch: usize = heap.alloc(<usize>MAX_BATCH * sizeof<u32>());

/** One backend's trend under simulated time. */
@final
export class Trend {
  record: TrendRecord = changetype<TrendRecord>(heap.alloc(<usize>TREND_SIZE));
  config: BreakerConfig = new BreakerConfig();
  now: u64 = 1000000;

  constructor() {
    initTrend(changetype<usize>(this.record), this.now);
  }

  wait(durationMs: u64): this {
    this.now += durationMs;
    return this;
  }

  /** Files the same time to a first token several times, at one moment. */
  file(durationMs: u32, times: i32): this {
    for (let i = 0; i < times; i++) store<u32>(batch + <usize>i * sizeof<u32>(), durationMs);
    fileFirstTokens(this.record, batch, times, this.now);
    return this;
  }

  /** Samples of one duration at one a tick of 250 ms, judged at each tick; how many ticks found a drift. */
  run(durationMs: u32, ticks: i32, mayLearn: bool = true): i32 {
    let drifted = 0;
    for (let i = 0; i < ticks; i++) {
      this.wait(250).file(durationMs, 1);
      if (this.judge(mayLearn)) drifted++;
    }
    return drifted;
  }

  judge(mayLearn: bool = false): bool {
    return judgeLatency(this.record, this.config, this.now, mayLearn);
  }

  forget(): void {
    forgetLatency(this.record, this.now);
  }

  baselineMs(): u32 {
    return baselineMs(this.record);
  }

  spend(millionths: u64): this {
    fileSpend(this.record, millionths, this.now);
    return this;
  }

  spendPerMinute(): u64 {
    return spendPerMinute(this.record, this.now);
  }

  isCostly(): bool {
    return judgeCost(this.record, this.config, this.now);
  }
}
