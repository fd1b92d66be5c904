import {
  BIN_COUNT,
  binEndMs,
  binOf,
  countDuration,
  HISTOGRAM_SIZE,
  percentileMs,
} from "../../../filter/breaker/histogram";
import { Xorshift } from "./backend";

const ptr: usize = heap.alloc(4 * HISTOGRAM_SIZE);

describe("the bins of durations", () => {
  it("are next to each other, from nothing to beyond twelve minutes", () => {
    expect(binOf(0)).toBe(0);
    expect(binEndMs(0)).toBe(4);
    for (let bin = 1; bin < BIN_COUNT; bin++) {
      const start = binEndMs(bin - 1);
      expect(binEndMs(bin)).toBeGreaterThan(start);
      expect(binOf(start)).toBe(bin);
      expect(binOf(start - 1)).toBe(bin - 1);
    }
    expect(binEndMs(BIN_COUNT - 2)).toBeGreaterThan(720000);
    expect(binOf(u32.MAX_VALUE)).toBe(BIN_COUNT - 1);
  });

  it("double every four", () => {
    for (let octave = 0; octave < 17; octave++) expect(binEndMs(octave * 4)).toBe(4 << octave);
  });
});

describe("a percentile", () => {
  beforeEach(() => {
    memory.fill(ptr, 0, 4 * HISTOGRAM_SIZE);
  });

  it("of nothing is nothing", () => {
    expect(percentileMs(ptr, HISTOGRAM_SIZE, 4, 95)).toBe(0);
  });

  it("is near the exact one of a sorted list, over several histograms", () => {
    const random = new Xorshift(1597463007);
    let worst: f64 = 0;
    for (let round = 0; round < 50; round++) {
      memory.fill(ptr, 0, 4 * HISTOGRAM_SIZE);
      const durations: u32[] = [];
      const scale = 20 + random.below(20000);
      for (let i = 0; i < 400; i++) {
        const duration = scale / 4 + random.below(scale);
        durations.push(duration);
        countDuration(ptr + <usize>random.below(4) * HISTOGRAM_SIZE, duration);
      }
      durations.sort();
      const exact = durations[379];
      const found = percentileMs(ptr, HISTOGRAM_SIZE, 4, 95);
      worst = max(worst, abs(<f64>found / <f64>exact - 1));
    }
    expect(worst).toBeLessThan(0.1);
  });

  it("separates 4 slow ones of 100 from 6", () => {
    for (let i = 0; i < 96; i++) countDuration(ptr, 100);
    for (let i = 0; i < 4; i++) countDuration(ptr, 9000);
    expect(percentileMs(ptr, HISTOGRAM_SIZE, 1, 95)).toBeLessThan(129);
    countDuration(ptr, 9000);
    countDuration(ptr, 9000);
    expect(percentileMs(ptr, HISTOGRAM_SIZE, 1, 95)).toBeGreaterThan(7000);
  });

  it("stays within bounds when all counts are full", () => {
    memory.fill(ptr, 0xff, 4 * HISTOGRAM_SIZE);
    countDuration(ptr, 5);
    const found = percentileMs(ptr, HISTOGRAM_SIZE, 4, 99);
    expect(found > binEndMs(BIN_COUNT - 3) && found <= binEndMs(BIN_COUNT - 1)).toBe(true);
  });
});
