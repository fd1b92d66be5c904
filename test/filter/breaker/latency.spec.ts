import { Xorshift } from "./backend";
import { Trend } from "./trend";

let trend: Trend = new Trend();

/** Whether a duration is within 19 % of another: the width of a histogram's bin. */
function isNear(durationMs: u32, expectedMs: u32): bool {
  return durationMs * 100 >= expectedMs * 84 && durationMs * 100 <= expectedMs * 119;
}

describe("the latency's baseline", () => {
  beforeEach(() => {
    trend = new Trend();
  });

  it("needs 100 samples", () => {
    trend.file(200, 99).judge(true);
    expect(trend.baselineMs()).toBe(0);
    trend.file(200, 1).judge(true);
    expect(isNear(trend.baselineMs(), 200)).toBe(true);
  });

  it("is learnt from healthy times only", () => {
    trend.file(200, 100).judge(false);
    expect(trend.baselineMs()).toBe(0);
  });

  it("moves slowly towards what becomes usual", () => {
    trend.run(200, 4 * 3600);
    const before = trend.baselineMs();
    trend.run(400, 4 * 600);
    expect(trend.baselineMs()).toBeGreaterThan(before + 10);
    expect(trend.baselineMs()).toBeLessThan(before + 60);
    trend.run(400, 4 * 4 * 3600);
    expect(isNear(trend.baselineMs(), 400)).toBe(true);
  });

  it("is the same however often it is judged between two samples", () => {
    const eager = new Trend();
    for (let i = 0; i < 4000; i++) {
      trend
        .wait(250)
        .file(100 + (i % 50) * 5, 1)
        .judge(true);
      eager.wait(250).file(100 + (i % 50) * 5, 1);
      for (let j = 0; j < 8; j++) eager.judge(true);
    }
    expect(eager.baselineMs()).toBe(trend.baselineMs());
  });
});

describe("a drift of latency", () => {
  beforeEach(() => {
    trend = new Trend();
    trend.run(200, 1200);
  });

  it("is no steady backend's, over a day of noise", () => {
    let drifted = 0;
    for (let i = 0; i < 24 * 60 * 4; i++) {
      trend.wait(15000).file(150 + <u32>((i * 7919) % 150), 5);
      if (trend.judge(true)) drifted++;
    }
    expect(drifted).toBe(0);
  });

  it("is a percentile above three times the baseline, and not twice", () => {
    expect(trend.run(450, 1200)).toBe(0);
    trend = new Trend();
    trend.run(200, 1200);
    expect(trend.run(1000, 200)).toBeGreaterThan(100);
  });

  it("is found by a few slow calls in hundred: the 99th percentile, from 300 samples on", () => {
    let drifted = 0;
    for (let i = 0; i < 1000; i++) {
      trend.wait(250).file(i % 50 === 0 ? 5000 : 200, 1);
      if (trend.judge(false)) drifted++;
    }
    expect(drifted).toBeGreaterThan(500);
  });

  it("takes more slow calls below 300 samples: the 95th percentile", () => {
    trend.forget();
    for (let i = 0; i < 250; i++) {
      trend.wait(250).file(i % 50 === 0 ? 5000 : 200, 1);
      expect(trend.judge(false)).toBe(false);
    }
    trend.forget();
    let drifted = 0;
    for (let i = 0; i < 250; i++) {
      trend.wait(250).file(i % 10 === 0 ? 5000 : 200, 1);
      if (trend.judge(false)) drifted++;
    }
    expect(drifted).toBeGreaterThan(100);
  });

  it("freezes the baseline as long as it lasts", () => {
    const before = trend.baselineMs();
    let learnt = 0;
    for (let i = 0; i < 40000; i++) {
      trend.wait(250).file(2000, 1);
      const drifted = trend.judge(true);
      if (!drifted && trend.baselineMs() > before + before / 8) learnt++;
    }
    expect(learnt).toBe(0);
    expect(trend.judge(false)).toBe(true);
  });

  it("or illness freezes the baseline, whatever the samples are", () => {
    const random = new Xorshift(6364136223846793005);
    let moved = 0;
    let frozen = 0;
    let broken = 0;
    for (let phase = 0; phase < 400; phase++) {
      const isWell = random.below(3) !== 0;
      const scaleMs = random.below(4) === 0 ? 3000 : 200;
      for (let i = 0; i < 200; i++) {
        const before = trend.baselineMs();
        trend.wait(random.below(1000)).file(scaleMs + random.below(scaleMs), 1 + <i32>random.below(4));
        const drifted = trend.judge(isWell);
        const isMoved = trend.baselineMs() !== before;
        if (isMoved) moved++;
        if (drifted) frozen++;
        if (isMoved && (drifted || !isWell)) broken++;
        if (random.below(2000) === 0) trend.forget();
      }
    }
    expect(broken).toBe(0);
    expect(moved).toBeGreaterThan(20);
    expect(frozen).toBeGreaterThan(20);
  });

  it("is not judged below 100 samples, and the baseline outlives forgotten ones", () => {
    const before = trend.baselineMs();
    trend.forget();
    expect(trend.file(5000, 99).judge()).toBe(false);
    expect(trend.baselineMs()).toBe(before);
    expect(trend.file(5000, 1).judge()).toBe(true);
  });

  it("is judged by samples of the last ten minutes", () => {
    trend.forget();
    trend.file(5000, 100);
    expect(trend.wait(599999).judge()).toBe(true);
    expect(trend.wait(1).judge()).toBe(false);
  });

  it("is judged at a dozen calls a minute too", () => {
    trend.forget();
    let drifted = 0;
    for (let i = 0; i < 240; i++) {
      trend.wait(4000).file(5000, 1);
      if (trend.judge()) drifted++;
    }
    expect(drifted).toBeGreaterThan(100);
  });

  it("is no single stutter of a tick under heavy traffic", () => {
    trend = new Trend();
    for (let i = 0; i < 400; i++) {
      trend.wait(250).file(200, 500);
      trend.judge(true);
    }
    let drifted = 0;
    trend.wait(250).file(3000, 100);
    if (trend.judge(true)) drifted++;
    trend.file(200, 400);
    expect(trend.judge(true) || drifted > 0).toBe(false);
  });

  it("is none of a few milliseconds, which nobody notices", () => {
    trend = new Trend();
    trend.run(5, 1200);
    expect(trend.run(100, 1200)).toBe(0);
    expect(trend.run(400, 1200, false)).toBeGreaterThan(500);
  });

  it("is off at 0, and a minimum beyond what is held is moved to that", () => {
    trend.config.latencyDriftThreshold = 0;
    expect(trend.run(9000, 400)).toBe(0);
    trend.config.latencyDriftThreshold = 300;
    trend.config.latencyDriftMinimumSamples = i32.MAX_VALUE;
    expect(trend.judge()).toBe(true);
  });
});

describe("WIN-3: a clock that steps by an hour under a trend", () => {
  beforeEach(() => {
    trend = new Trend();
    trend.now = 36000000;
    trend.run(200, 1200);
  });

  it("back, samples go on to age", () => {
    trend.forget();
    trend.file(5000, 100);
    trend.now -= 3600000;
    expect(trend.judge()).toBe(true);
    expect(trend.wait(599999).judge()).toBe(true);
    expect(trend.wait(1).judge()).toBe(false);
  });

  it("back, lessons go on", () => {
    trend.now -= 3600000;
    const before = trend.baselineMs();
    trend.run(300, 2400);
    expect(trend.baselineMs()).toBeGreaterThan(before);
  });

  it("forward, old samples are gone and the baseline is not", () => {
    trend.file(5000, 300);
    const before = trend.baselineMs();
    expect(trend.wait(3600000).judge()).toBe(false);
    expect(trend.baselineMs()).toBe(before);
  });
});
