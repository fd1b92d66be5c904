import { Xorshift } from "./backend";
import { Trend } from "./trend";

let trend: Trend = new Trend();

describe("the spend per minute", () => {
  beforeEach(() => {
    trend = new Trend();
  });

  it("is what the last 60 seconds have cost", () => {
    trend.spend(100).wait(30000).spend(20);
    expect(trend.spendPerMinute()).toBe(120);
    expect(trend.wait(29999).spendPerMinute()).toBe(120);
    expect(trend.wait(1).spendPerMinute()).toBe(20);
    expect(trend.wait(30000).spendPerMinute()).toBe(0);
  });

  it("forgets everything over a long gap", () => {
    for (let second = 0; second < 90; second++) trend.spend(7).wait(1000);
    expect(trend.spendPerMinute()).toBe(59 * 7);
    expect(trend.wait(3 * 24 * 3600 * 1000).spendPerMinute()).toBe(0);
  });

  it("agrees with a list of all answers that is summed anew each time", () => {
    const random = new Xorshift(104729);
    const origin = trend.now;
    const seconds: i64[] = [];
    const amounts: u64[] = [];
    let disagreements = 0;
    for (let step = 0; step < 3000; step++) {
      trend.wait(random.below(40) === 0 ? random.below(90000) : random.below(700));
      seconds.push((trend.now - origin) / 1000);
      amounts.push(random.below(1000000));
      trend.spend(amounts[step]);
      let sum: u64 = 0;
      for (let i = step; i >= 0 && seconds[i] > seconds[step] - 60; i--) sum += amounts[i];
      if (trend.spendPerMinute() !== sum) disagreements++;
    }
    expect(disagreements).toBe(0);
  });

  it("stays full rather than wrapping", () => {
    trend.spend(u64.MAX_VALUE).spend(5).wait(1000).spend(u64.MAX_VALUE);
    expect(trend.spendPerMinute()).toBe(u64.MAX_VALUE);
    expect(trend.wait(60000).spendPerMinute()).toBe(0);
  });

  it("goes on to be forgotten when the clock steps back", () => {
    trend.now = 36000000;
    trend.spend(100);
    trend.now -= 3600000;
    expect(trend.spendPerMinute()).toBe(100);
    expect(trend.wait(60000).spendPerMinute()).toBe(0);
  });
});

describe("the rate of costs", () => {
  beforeEach(() => {
    trend = new Trend();
    trend.config.costPerDay = 1440 * 1000000;
  });

  it("is too much above three times the day's even spend, and not at it", () => {
    expect(trend.spend(3000000).isCostly()).toBe(false);
    expect(trend.spend(1).isCostly()).toBe(true);
    expect(trend.wait(60000).isCostly()).toBe(false);
  });

  it("is off without a budget and without a threshold", () => {
    trend.spend(u64.MAX_VALUE);
    expect(trend.isCostly()).toBe(true);
    trend.config.costRateThreshold = 0;
    expect(trend.isCostly()).toBe(false);
    trend.config.costRateThreshold = 300;
    trend.config.costPerDay = 0;
    expect(trend.isCostly()).toBe(false);
  });

  it("is told exactly for small budgets too", () => {
    trend.config.costPerDay = 1000;
    expect(trend.spend(2).isCostly()).toBe(false);
    expect(trend.spend(1).isCostly()).toBe(true);
  });

  it("does not overflow with the largest budget", () => {
    trend.config.costPerDay = u64.MAX_VALUE;
    expect(trend.spend(1000000000000).isCostly()).toBe(false);
  });
});
