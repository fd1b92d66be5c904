import { VERDICT_LATE } from "../../../filter/breaker/breaker";
import { Outcome } from "../../../filter/breaker/outcome";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend } from "./backend";

let backend: Backend = new Backend();

describe("backpressure", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("opens when its share of all calls reaches the threshold, with enough of them", () => {
    backend.file(Outcome.SUCCESS, 2);
    expect(backend.throttle(0, 7)).toBe(Cause.NONE);
    expect(backend.throttle(0)).toBe(Cause.BACKPRESSURE);
    expect(backend.record.state).toBe(State.OPEN);
  });

  it("does not open just under its threshold", () => {
    backend.file(Outcome.SUCCESS, 21);
    expect(backend.throttle(0, 79)).toBe(Cause.NONE);
  });

  it("opens by a success when that is the call that makes the minimum", () => {
    backend.throttle(0, 9);
    expect(backend.file(Outcome.SUCCESS)).toBe(Cause.BACKPRESSURE);
  });

  it("is off at 0", () => {
    backend.config.backpressureRateThreshold = 0;
    expect(backend.throttle(0, 1000)).toBe(Cause.NONE);
  });

  it("that tells no wait keeps the backend open for the configured one", () => {
    backend.throttle(0, 10);
    expect(backend.remainingWaitMs()).toBe(15000);
  });

  it("that tells a wait keeps it open for the longest of them", () => {
    backend.throttle(0, 3);
    backend.throttle(40000);
    backend.throttle(20000, 6);
    expect(backend.remainingWaitMs()).toBe(40000);
  });

  it("that tells a wait shorter than the ordinary one keeps it open for the ordinary one", () => {
    backend.throttle(1000, 10);
    expect(backend.remainingWaitMs()).toBe(5000);
  });

  it("is heard up to five minutes, beyond the cap of ordinary waits", () => {
    backend.throttle(u32.MAX_VALUE, 10);
    expect(backend.remainingWaitMs()).toBe(300000);
  });

  it("votes in half-open for neither side, and its wait counts when something else opens", () => {
    backend.ramp();
    const generation = backend.record.generation;
    const first = backend.acquire();
    const second = backend.acquire();
    expect(backend.finish(generation, first, Outcome.BACKPRESSURE, 60000)).toBe(Cause.NONE);
    expect(backend.record.state).toBe(State.HALF_OPEN);
    expect(backend.finish(generation, second, Outcome.FAILURE)).toBe(Cause.CANARY_FAILED);
    expect(backend.remainingWaitMs()).toBe(60000);
  });
});

describe("HO-7: a wait that a Retry-After asks for", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("that is short does not shorten the wait of the failures that follow", () => {
    backend.throttle(1000);
    expect(backend.file(Outcome.FAILURE, 5)).toBe(Cause.CONSECUTIVE_FAILURES);
    expect(backend.remainingWaitMs()).toBe(5000);
  });

  it("that is long holds for an opening by any cause", () => {
    backend.throttle(60000);
    backend.wait(10000).file(Outcome.FAILURE, 5);
    expect(backend.remainingWaitMs()).toBe(50000);
  });

  it("is forgotten when the window is", () => {
    backend.throttle(100000);
    backend.wait(30000).open();
    expect(backend.remainingWaitMs()).toBe(5000);
  });

  it("lives on while the backend goes on asking", () => {
    backend.throttle(100000);
    backend.wait(29000).throttle(1000);
    backend.wait(29000).open();
    expect(backend.remainingWaitMs()).toBe(42000);
  });

  it("is over when it is over", () => {
    backend.throttle(3000);
    backend.wait(3000).throttle(0, 9);
    expect(backend.record.lastCause).toBe(Cause.BACKPRESSURE);
    expect(backend.remainingWaitMs()).toBe(15000);
  });

  it("lengthens an opening that is on, also when it comes late, and never shortens it", () => {
    const generation = backend.record.generation;
    backend.open();
    expect(backend.finish(generation, 0, Outcome.BACKPRESSURE, 30000)).toBe(VERDICT_LATE);
    expect(backend.remainingWaitMs()).toBe(30000);
    expect(backend.finish(generation, 0, Outcome.BACKPRESSURE, 1000)).toBe(VERDICT_LATE);
    expect(backend.throttle(1000)).toBe(Cause.NONE);
    expect(backend.remainingWaitMs()).toBe(30000);
    expect(backend.throttle(u32.MAX_VALUE)).toBe(Cause.NONE);
    expect(backend.remainingWaitMs()).toBe(300000);
    expect(backend.record.openings).toBe(1);
  });

  it("is not taken from anything but backpressure", () => {
    const generation = backend.record.generation;
    backend.open();
    backend.finish(generation, 0, Outcome.FAILURE, 60000);
    backend.finish(generation, 0, Outcome.SUCCESS, 60000);
    backend.finish(generation, 0, Outcome.NEUTRAL, 60000);
    expect(backend.remainingWaitMs()).toBe(5000);
  });

  it("is clamped anew when a push shortens the longest one", () => {
    backend.throttle(200000);
    backend.config.maxRetryAfterMs = 20000;
    backend.open();
    expect(backend.remainingWaitMs()).toBe(20000);
  });

  it("is over for good once the ramp has closed the backend", () => {
    backend.ramp();
    const generation = backend.record.generation;
    backend.finish(generation, backend.acquire(), Outcome.BACKPRESSURE, 60000);
    backend.close().open();
    expect(backend.remainingWaitMs()).toBe(10000);
  });

  it("holds for a probe that could not be sent too", () => {
    backend.open().wait(5000).probe(1);
    backend.throttle(60000);
    backend.abandon(1);
    expect(backend.remainingWaitMs()).toBe(60000);
  });
});
