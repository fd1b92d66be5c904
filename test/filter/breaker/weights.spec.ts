import { Outcome } from "../../../filter/breaker/outcome";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend, totalsMatchBuckets } from "./backend";

let backend: Backend = new Backend();

describe("a failure's weight", () => {
  beforeEach(() => {
    backend = Backend.withRateOnly(30, 10, 50);
  });

  it("is its share in the rate", () => {
    expect(backend.file(Outcome.FAILURE, 9, 50)).toBe(Cause.NONE);
    expect(backend.file(Outcome.FAILURE, 1, 50)).toBe(Cause.FAILURE_RATE);
    expect(backend.record.totalWeightedFailures).toBe(500);
    backend = Backend.withRateOnly(30, 10, 50);
    backend.file(Outcome.FAILURE, 100, 49);
    expect(backend.record.state).toBe(State.CLOSED);
  });

  it("may be more than one failure's", () => {
    backend.file(Outcome.SUCCESS, 9);
    expect(backend.file(Outcome.FAILURE, 1, 500)).toBe(Cause.FAILURE_RATE);
  });

  it("is bounded, so that no failure fills the total by itself", () => {
    backend.config.failureRateThreshold = 0;
    backend.file(Outcome.FAILURE, 1, u32.MAX_VALUE);
    backend.file(Outcome.FAILURE, 1);
    expect(backend.record.totalFailures).toBe(2);
    expect(totalsMatchBuckets(backend.record)).toBe(true);
  });

  it("does not matter for the streak, unless it is 0", () => {
    backend.config.failureRateThreshold = 0;
    backend.config.consecutiveFailuresThreshold = 5;
    backend.file(Outcome.FAILURE, 4, 1);
    expect(backend.file(Outcome.FAILURE, 9, 0)).toBe(Cause.NONE);
    expect(backend.file(Outcome.FAILURE, 1, 1)).toBe(Cause.CONSECUTIVE_FAILURES);
  });
});

describe("a failure that weighs nothing", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("is a call, and no failure", () => {
    backend.config.failureCountThreshold = 1;
    expect(backend.file(Outcome.FAILURE, 1000, 0)).toBe(Cause.NONE);
    expect(backend.record.totalCalls).toBe(1000);
    expect(backend.record.totalFailures).toBe(0);
    expect(backend.record.consecutiveFailures).toBe(0);
  });

  it("is no vote of a canary", () => {
    backend.ramp();
    const generation = backend.record.generation;
    const id = backend.acquire();
    expect(backend.finish(generation, id, Outcome.FAILURE, 0, 0)).toBe(Cause.NONE);
    expect(backend.record.state).toBe(State.HALF_OPEN);
    expect(backend.record.stageSuccesses).toBe(0);
    expect(backend.release(id)).toBe(false);
  });

  it("still tells of a dead engine and of memory, which have their own switches", () => {
    expect(backend.file(Outcome.OUT_OF_MEMORY, 2, 0)).toBe(Cause.OUT_OF_MEMORY);
    backend = new Backend();
    expect(backend.file(Outcome.ENGINE_FATAL, 1, 0)).toBe(Cause.ENGINE_FATAL);
  });
});

describe("the count of failures", () => {
  beforeEach(() => {
    backend = Backend.withRateOnly(30, 10, 0);
    backend.config.failureCountThreshold = 7;
  });

  it("opens at its threshold, whatever the rate", () => {
    for (let i = 0; i < 6; i++) {
      backend.file(Outcome.SUCCESS, 1000);
      expect(backend.file(Outcome.FAILURE)).toBe(Cause.NONE);
    }
    expect(backend.file(Outcome.FAILURE)).toBe(Cause.FAILURE_COUNT);
  });

  it("needs no minimum number of calls", () => {
    backend.config.minimumNumberOfCalls = 1000;
    expect(backend.file(Outcome.FAILURE, 7)).toBe(Cause.FAILURE_COUNT);
  });

  it("counts the window only, and whole failures whatever they weigh", () => {
    backend.file(Outcome.FAILURE, 6, 1);
    backend.wait(30000);
    expect(backend.file(Outcome.FAILURE, 6, 1)).toBe(Cause.NONE);
    expect(backend.file(Outcome.FAILURE, 1, 1)).toBe(Cause.FAILURE_COUNT);
  });

  it("is off at 0, as by default", () => {
    backend.config.failureCountThreshold = new Backend().config.failureCountThreshold;
    expect(backend.file(Outcome.FAILURE, 1000)).toBe(Cause.NONE);
  });
});
