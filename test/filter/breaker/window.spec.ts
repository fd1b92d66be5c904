import { FULL_WEIGHT, Outcome } from "../../../filter/breaker/outcome";
import { BackendRecord, initRecord } from "../../../filter/breaker/record";
import { advanceWindow, fileFirstTokenCalls, fileOutcome } from "../../../filter/breaker/window";
import { Backend, totalsMatchBuckets, Xorshift } from "./backend";

let backend: Backend = new Backend();

function file(outcome: i32, times: i32 = 1): void {
  for (let i = 0; i < times; i++) fileOutcome(backend.record, outcome, FULL_WEIGHT, backend.now);
}

function calls(): u32 {
  advanceWindow(backend.record, backend.now);
  return backend.record.totalCalls;
}

/** What was filed at one moment. */
@final
class Fact {
  firstTokens: u32 = 0;
  slowCalls: u32 = 0;

  constructor(
    public second: i64,
    public outcome: i32,
    public weight: u32,
  ) {}
}

/** The sums of all facts from a second on, found by looking at each. */
@final
class Sums {
  calls: u32 = 0;
  failures: u32 = 0;
  weighted: u32 = 0;
  backpressure: u32 = 0;
  outOfMemory: u32 = 0;
  firstTokens: u32 = 0;
  slowCalls: u32 = 0;

  constructor(facts: Fact[], oldest: i64) {
    for (let i = facts.length - 1; i >= 0 && facts[i].second >= oldest; i--) this.add(facts[i]);
  }

  isTotalOf(record: BackendRecord): bool {
    return (
      this.calls === record.totalCalls &&
      this.failures === record.totalFailures &&
      this.weighted === record.totalWeightedFailures &&
      this.backpressure === record.totalBackpressure &&
      this.outOfMemory === record.totalOutOfMemory &&
      this.firstTokens === record.totalFirstTokens &&
      this.slowCalls === record.totalSlowCalls
    );
  }

  private add(fact: Fact): void {
    this.firstTokens += fact.firstTokens;
    this.slowCalls += fact.slowCalls;
    if (fact.outcome === Outcome.BACKPRESSURE) this.backpressure++;
    if (fact.outcome === Outcome.OUT_OF_MEMORY) this.outOfMemory++;
    if (fact.outcome >= Outcome.BACKPRESSURE) return;
    this.calls++;
    if (fact.outcome === Outcome.SUCCESS || fact.weight === 0) return;
    this.failures++;
    this.weighted += fact.weight;
  }
}

describe("the sliding window", () => {
  beforeEach(() => {
    backend = new Backend(10);
  });

  it("is empty at first", () => {
    expect(calls()).toBe(0);
    expect(totalsMatchBuckets(backend.record)).toBe(true);
  });

  it("files each class of outcome in its own count", () => {
    file(Outcome.SUCCESS, 3);
    file(Outcome.FAILURE, 2);
    file(Outcome.ENGINE_FATAL);
    file(Outcome.OUT_OF_MEMORY);
    file(Outcome.BACKPRESSURE, 5);
    file(Outcome.NEUTRAL, 7);
    expect(backend.record.totalFailures).toBe(4);
    expect(backend.record.totalWeightedFailures).toBe(400);
    expect(backend.record.totalOutOfMemory).toBe(1);
    expect(backend.record.totalBackpressure).toBe(5);
    expect(calls()).toBe(7);
  });

  it("keeps a call for as many seconds as it has buckets, less the one that fills", () => {
    file(Outcome.SUCCESS);
    backend.wait(9999);
    expect(calls()).toBe(1);
    backend.wait(1);
    expect(calls()).toBe(0);
  });

  it("forgets second by second as it wraps, over many turns of the ring", () => {
    for (let second = 0; second < 57; second++) {
      file(Outcome.FAILURE, 2);
      expect(calls()).toBe(min(second + 1, 10) * 2);
      expect(totalsMatchBuckets(backend.record)).toBe(true);
      backend.wait(1000);
    }
  });

  it("clears every expired bucket after a gap, not one per call", () => {
    for (let second = 0; second < 10; second++) {
      file(Outcome.FAILURE);
      backend.wait(1000);
    }
    backend.wait(5000);
    file(Outcome.SUCCESS);
    expect(backend.record.totalFailures).toBe(4);
    expect(calls()).toBe(5);
    expect(totalsMatchBuckets(backend.record)).toBe(true);
  });

  it("is empty after being idle for exactly its length, and for days", () => {
    file(Outcome.FAILURE, 9);
    backend.wait(10000);
    expect(calls()).toBe(0);
    file(Outcome.FAILURE, 9);
    backend.wait(3 * 24 * 3600 * 1000);
    expect(calls()).toBe(0);
    expect(totalsMatchBuckets(backend.record)).toBe(true);
  });

  it("keeps its one-second grid over a long gap", () => {
    backend.wait(25300);
    file(Outcome.SUCCESS);
    backend.wait(700);
    file(Outcome.FAILURE);
    backend.wait(9000);
    expect(calls()).toBe(1);
  });

  it("takes a clock that goes back as no time passed", () => {
    backend.wait(5000);
    file(Outcome.FAILURE, 3);
    backend.now -= 4000;
    file(Outcome.FAILURE);
    expect(calls()).toBe(4);
    backend.now += 4000;
    expect(calls()).toBe(4);
    expect(totalsMatchBuckets(backend.record)).toBe(true);
  });

  it("works with one bucket and with the most", () => {
    initRecord(changetype<usize>(backend.record), 1, backend.now);
    file(Outcome.SUCCESS, 2);
    expect(calls()).toBe(2);
    backend.wait(1000);
    expect(calls()).toBe(0);
    initRecord(changetype<usize>(backend.record), 120, backend.now);
    file(Outcome.SUCCESS);
    backend.wait(119999);
    expect(calls()).toBe(1);
    backend.wait(1);
    expect(calls()).toBe(0);
  });

  it("stays full rather than wrapping when a count can grow no more", () => {
    file(Outcome.FAILURE);
    file(Outcome.SUCCESS);
    backend.record.totalCalls = u32.MAX_VALUE;
    file(Outcome.SUCCESS);
    file(Outcome.FAILURE);
    expect(calls()).toBe(u32.MAX_VALUE);
    expect(backend.record.totalFailures).toBe(1);
    backend.record.totalFirstTokens = u32.MAX_VALUE - 1;
    fileFirstTokenCalls(backend.record, 2, 2, backend.now);
    expect(backend.record.totalFirstTokens).toBe(u32.MAX_VALUE - 1);
    expect(backend.record.totalSlowCalls).toBe(0);
  });

  it("agrees with a list of all facts that is counted anew each time", () => {
    const random = new Xorshift(88172645463325);
    const origin = backend.now;
    const facts: Fact[] = [];
    let disagreements = 0;
    for (let step = 0; step < 4000; step++) {
      backend.wait(random.below(50) === 0 ? random.below(15000) : random.below(300));
      const fact = new Fact(<i64>((backend.now - origin) / 1000), <i32>random.below(6), random.below(3) * 60);
      fact.firstTokens = random.below(4);
      fact.slowCalls = random.below(fact.firstTokens + 1);
      facts.push(fact);
      fileOutcome(backend.record, fact.outcome, fact.weight, backend.now);
      fileFirstTokenCalls(backend.record, fact.firstTokens, fact.slowCalls, backend.now);
      if (!new Sums(facts, fact.second - 9).isTotalOf(backend.record)) disagreements++;
      if (!totalsMatchBuckets(backend.record)) disagreements++;
    }
    expect(disagreements).toBe(0);
  });
});
