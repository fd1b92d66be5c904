import { VERDICT_LATE } from "../../../filter/breaker/breaker";
import { Stage } from "../../../filter/breaker/config";
import { Outcome } from "../../../filter/breaker/outcome";
import { livePermits } from "../../../filter/breaker/permits";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend } from "./backend";

let backend: Backend = new Backend();

describe("HO-1: a neutral end in half-open gives the permit back", () => {
  // Mutation, tried: in breaker.ts, onCanary with `outcome === Outcome.SUCCESS || outcome === Outcome.NEUTRAL` (a neutral canary
  // votes for success) makes this fail.
  it("so that bad requests as canaries neither close, open nor block", () => {
    backend = new Backend().ramp();
    for (let i = 0; i < 20; i++) {
      const generation = backend.record.generation;
      const first = backend.acquire();
      const second = backend.acquire();
      expect(first !== 0 && second !== 0).toBe(true);
      expect(backend.finish(generation, first, Outcome.NEUTRAL)).toBe(Cause.NONE);
      expect(backend.finish(generation, second, Outcome.BACKPRESSURE)).toBe(Cause.NONE);
    }
    expect(livePermits(backend.record, backend.now)).toBe(0);
    expect(backend.record.stageSuccesses).toBe(0);
    backend.close();
    expect(backend.record.state).toBe(State.CLOSED);
  });
});

describe("HO-3: a permit whose request dies before the upstream", () => {
  beforeEach(() => {
    backend = new Backend().ramp();
    backend.config.stages = [new Stage(5, 1, 5)];
  });

  it("is released by the stream's end, with no vote, and the next canary is admitted at once", () => {
    for (let i = 0; i < 100; i++) {
      const id = backend.acquire();
      expect(id).toBeGreaterThan(0);
      expect(backend.release(id)).toBe(true);
    }
    expect(backend.record.stageSuccesses).toBe(0);
    expect(backend.record.state).toBe(State.HALF_OPEN);
  });

  it("is not released twice into somebody else's hands", () => {
    const lost = backend.acquire();
    backend.release(lost);
    const next = backend.acquire();
    expect(backend.release(lost)).toBe(false);
    expect(backend.finish(backend.record.generation, lost, Outcome.NEUTRAL)).toBe(VERDICT_LATE);
    expect(backend.acquire()).toBe(0);
    expect(backend.release(next)).toBe(true);
  });

  it("expires when its worker died with it", () => {
    backend.acquire();
    expect(backend.wait(29999).acquire()).toBe(0);
    expect(backend.wait(1).acquire()).toBeGreaterThan(0);
  });
});

describe("HO-6: fewer permits than the minimum number of calls", () => {
  beforeEach(() => {
    backend = new Backend();
    backend.config.minimumNumberOfCalls = 100;
    backend.config.stages = [new Stage(5, 2, 2)];
    backend.ramp();
  });

  it("(a) closes after two successful trials", () => {
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.NONE);
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.RAMP_COMPLETE);
    expect(backend.record.state).toBe(State.CLOSED);
  });

  // Mutation, tried: in breaker.ts, onOutcome with `if (isDead) return VERDICT_LATE;` (a late result votes) makes this fail,
  // and in open.spec.ts "tell an outcome of before the outage from one of after it".
  it("(b) opens again on one failed trial, with a fresh wait, whatever would have followed", () => {
    const generation = backend.record.generation;
    const second = backend.acquire();
    expect(backend.canary(Outcome.FAILURE)).toBe(Cause.CANARY_FAILED);
    expect(backend.finish(generation, second, Outcome.SUCCESS)).toBe(VERDICT_LATE);
    expect(backend.canary(Outcome.SUCCESS)).toBe(-1);
    expect(backend.record.state).toBe(State.OPEN);
    expect(backend.remainingWaitMs()).toBe(10000);
  });
});

describe("WIN-2: buckets that roll", () => {
  beforeEach(() => {
    backend = Backend.withRateOnly(10, 10, 50);
  });

  it("(a) 9 failures, 25 s of silence, 1 failure: CLOSED with a total of 1", () => {
    backend.file(Outcome.FAILURE, 9);
    expect(backend.wait(25000).file(Outcome.FAILURE)).toBe(Cause.NONE);
    expect(backend.record.state).toBe(State.CLOSED);
    expect(backend.calls()).toBe(1);
  });

  it("(b) 9 failures in one second, the tenth as the first of the next: OPEN", () => {
    backend.file(Outcome.FAILURE, 9);
    expect(backend.wait(1000).file(Outcome.FAILURE)).toBe(Cause.FAILURE_RATE);
  });

  it("(c) 5 failures at 9.9 s, 5 at 10.1 s: OPEN", () => {
    backend.wait(9900).file(Outcome.FAILURE, 5);
    expect(backend.wait(200).file(Outcome.FAILURE, 5)).toBe(Cause.FAILURE_RATE);
  });

  it("(d) one failure every 9 s for 2 min: CLOSED", () => {
    for (let i = 0; i < 14; i++) {
      expect(backend.wait(9000).file(Outcome.FAILURE)).toBe(Cause.NONE);
      expect(backend.calls() <= 2).toBe(true);
    }
  });
});
