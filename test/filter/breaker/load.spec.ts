import {
  fileKvCacheUse,
  fileWaiting,
  freshWaiting,
  initLoad,
  isLoadValid,
  LOAD_SIZE,
  LoadRecord,
  loadAgeMs,
  standingKvCacheUse,
  worstKvCacheUse,
} from "../../../filter/breaker/load";

const START: u64 = 1_000_300;
const ptr = heap.alloc(LOAD_SIZE);
const record = changetype<LoadRecord>(ptr);

describe("the load that answers tell", () => {
  beforeEach(() => initLoad(ptr));

  it("is unknown before any answer told it", () => {
    expect(worstKvCacheUse(record, START)).toBe(0);
    expect(freshWaiting(record, START)).toBe(0);
    expect(worstKvCacheUse(record, 0)).toBe(0);
  });

  it("is the worst of five seconds for the KV cache, and the latest for the queue", () => {
    fileKvCacheUse(record, 901, START);
    fileKvCacheUse(record, 301, START + 100);
    fileWaiting(record, 9, START);
    fileWaiting(record, 3, START + 100);
    expect(worstKvCacheUse(record, START + 100)).toBe(901);
    expect(freshWaiting(record, START + 100)).toBe(3);
  });

  it("is forgotten after five seconds without a sample as bad", () => {
    fileKvCacheUse(record, 901, START);
    for (let second: u64 = 1; second < 5; second++) fileKvCacheUse(record, 301, START + second * 1000);
    expect(worstKvCacheUse(record, START + 4999)).toBe(901);
    expect(worstKvCacheUse(record, START + 5000)).toBe(301);
    expect(worstKvCacheUse(record, START + 8999)).toBe(301);
    expect(worstKvCacheUse(record, START + 9000)).toBe(0);
    fileWaiting(record, 5, START);
    expect(freshWaiting(record, START + 4999)).toBe(5);
    expect(freshWaiting(record, START + 5000)).toBe(0);
  });

  it("stands for a minute where nothing fresher was told", () => {
    fileKvCacheUse(record, 901, START);
    fileKvCacheUse(record, 801, START + 1000);
    expect(standingKvCacheUse(record, START + 4999)).toBe(901);
    expect(standingKvCacheUse(record, START + 5500)).toBe(801);
    expect(standingKvCacheUse(record, START + 6000)).toBe(801);
    expect(standingKvCacheUse(record, START + 60_999)).toBe(801);
    expect(standingKvCacheUse(record, START + 61_000)).toBe(0);
    expect(standingKvCacheUse(record, START - 10_000)).toBe(0);
    fileKvCacheUse(record, 101, START + 70_000);
    expect(standingKvCacheUse(record, START + 76_000)).toBe(101);
  });

  it("covers five seconds whole at any moment", () => {
    for (let ms: u64 = 0; ms < 20_000; ms += 250) {
      fileKvCacheUse(record, <u32>(1 + ((ms / 250) % 7) * 100), START + ms);
      let worst: u64 = 0;
      for (let back: u64 = 0; back < 5000 && back <= ms; back += 250)
        worst = max(worst, 1 + (((ms - back) / 250) % 7) * 100);
      expect(<u64>worstKvCacheUse(record, START + ms)).toBeGreaterThanOrEqual(worst);
    }
  });

  it("keeps the later of two answers, whichever worker files first", () => {
    fileWaiting(record, 3, START + 200);
    fileWaiting(record, 9, START + 100);
    expect(freshWaiting(record, START + 300)).toBe(3);
  });

  it("is unknown after the clock went back, and then learnt anew", () => {
    fileKvCacheUse(record, 901, START);
    fileWaiting(record, 9, START);
    expect(worstKvCacheUse(record, START - 10_000)).toBe(0);
    expect(freshWaiting(record, START - 10_000)).toBe(0);
    fileWaiting(record, 2, START - 10_000);
    expect(freshWaiting(record, START - 10_000)).toBe(2);
  });

  it("tells its age by the latest figure", () => {
    fileKvCacheUse(record, 901, START);
    fileWaiting(record, 9, START + 700);
    expect(loadAgeMs(record, START + 1000)).toBe(300);
    expect(loadAgeMs(record, START)).toBe(0);
  });

  it("of another layout is no record", () => {
    expect(isLoadValid(ptr, LOAD_SIZE)).toBe(true);
    expect(isLoadValid(ptr, LOAD_SIZE - 8)).toBe(false);
    store<u32>(ptr, 1);
    expect(isLoadValid(ptr, LOAD_SIZE)).toBe(false);
  });
});
