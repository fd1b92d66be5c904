import { Permission, VERDICT_LATE } from "../../../filter/breaker/breaker";
import { Outcome } from "../../../filter/breaker/outcome";
import { Cause, causeName, State, stateName } from "../../../filter/breaker/state";
import { Backend, DRAWN } from "./backend";

let backend: Backend = new Backend();

describe("a backend that is CLOSED", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("permits everything and has no wait", () => {
    expect(backend.permission()).toBe(Permission.PERMITTED);
    expect(backend.remainingWaitMs()).toBe(0);
  });

  it("has neither probes nor canaries", () => {
    backend.wait(3600000);
    expect(backend.probe(1)).toBe(false);
    expect(backend.isDrawn(DRAWN)).toBe(false);
    expect(backend.acquire()).toBe(0);
    expect(backend.probeOutcome(1, false)).toBe(VERDICT_LATE);
    expect(backend.record.state).toBe(State.CLOSED);
  });
});

describe("a backend that is OPEN", () => {
  beforeEach(() => {
    backend = new Backend().open();
  });

  it("refuses everything, and goes on refusing after its wait until a probe has told", () => {
    expect(backend.permission()).toBe(Permission.REFUSED);
    expect(backend.acquire()).toBe(0);
    backend.wait(3600000);
    expect(backend.permission()).toBe(Permission.REFUSED);
    expect(backend.isDrawn(DRAWN)).toBe(false);
  });

  it("says how long it will refuse", () => {
    expect(backend.remainingWaitMs()).toBe(5000);
    expect(backend.wait(4999).remainingWaitMs()).toBe(1);
    expect(backend.wait(1).remainingWaitMs()).toBe(0);
    expect(backend.wait(1000).remainingWaitMs()).toBe(0);
  });

  it("is not kept open by late failures", () => {
    const generation = backend.record.generation;
    backend.wait(4000);
    for (let i = 0; i < 50; i++) {
      expect(backend.finish(generation - 1, 0, Outcome.ENGINE_FATAL)).toBe(VERDICT_LATE);
    }
    expect(backend.remainingWaitMs()).toBe(1000);
    expect(backend.record.openings).toBe(1);
    expect(backend.record.generation).toBe(generation);
    expect(backend.record.stateSinceMs).toBe(backend.now - 4000);
  });

  it("is neither closed nor kept open by requests that were let through in spite of it", () => {
    expect(backend.file(Outcome.SUCCESS, 20)).toBe(Cause.NONE);
    expect(backend.file(Outcome.FAILURE, 20)).toBe(Cause.NONE);
    expect(backend.record.state).toBe(State.OPEN);
    expect(backend.remainingWaitMs()).toBe(5000);
  });

  it("keeps the totals that opened it, for the event", () => {
    expect(backend.record.totalFailures).toBe(1);
    expect(backend.record.lastCause).toBe(Cause.ENGINE_FATAL);
  });
});

describe("generations", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("tell an outcome of before the outage from one of after it", () => {
    const before = backend.record.generation;
    backend.ramp().close();
    for (let i = 0; i < 20; i++) expect(backend.finish(before, 0, Outcome.FAILURE)).toBe(VERDICT_LATE);
    expect(backend.record.state).toBe(State.CLOSED);
    expect(backend.calls()).toBe(0);
    expect(backend.record.consecutiveFailures).toBe(0);
  });

  it("grow by one with every transition", () => {
    expect(backend.record.generation).toBe(1);
    backend.open();
    expect(backend.record.generation).toBe(2);
    backend.wait(5000).probe(1);
    expect(backend.record.generation).toBe(3);
    backend.probeOutcome(1, true);
    expect(backend.record.generation).toBe(4);
    backend.close();
    expect(backend.record.generation).toBe(5);
  });

  it("wrap without ever being 0", () => {
    backend.record.generation = u32.MAX_VALUE;
    backend.open();
    expect(backend.record.generation).toBe(1);
    expect(backend.finish(u32.MAX_VALUE, 0, Outcome.FAILURE)).toBe(VERDICT_LATE);
  });
});

describe("names", () => {
  it("are resilience4j's for states", () => {
    expect(stateName(State.CLOSED)).toBe("CLOSED");
    expect(stateName(State.OPEN)).toBe("OPEN");
    expect(stateName(State.HALF_OPEN)).toBe("HALF_OPEN");
    expect(stateName(99)).toBe("UNKNOWN");
  });

  it("are there for every cause, all different", () => {
    const seen: string[] = [];
    for (let cause = Cause.NONE as i32; cause <= Cause.BACKPRESSURE; cause++) {
      expect(seen.includes(causeName(cause))).toBe(false);
      seen.push(causeName(cause));
    }
    expect(seen.includes("UNKNOWN")).toBe(false);
    expect(causeName(200)).toBe("UNKNOWN");
    expect(causeName(Cause.FAILURE_RATE | VERDICT_LATE)).toBe("FAILURE_RATE");
  });
});
