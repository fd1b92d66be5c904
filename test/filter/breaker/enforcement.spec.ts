import { onOutcome, VERDICT_LATE, VERDICT_REPORTED } from "../../../filter/breaker/breaker";
import { BreakerConfig, TRIGGER_COUNT, Trigger } from "../../../filter/breaker/config";
import { Outcome } from "../../../filter/breaker/outcome";
import { Cause, causeName, State } from "../../../filter/breaker/state";
import { Backend, Xorshift } from "./backend";

let backend: Backend = new Backend();

/** How many of 1000 fresh backends a dead engine opens. */
function openedOf1000(percent: u8): i32 {
  const random = new Xorshift(271828);
  let opened = 0;
  for (let i = 0; i < 1000; i++) {
    backend = new Backend();
    backend.config.enforcing[Trigger.ENGINE_FATAL] = percent;
    const word = <u32>(random.next() >> 32);
    onOutcome(backend.record, backend.config, backend.now, 1, 0, Outcome.ENGINE_FATAL, 100, 0, word);
    if (backend.record.state === State.OPEN) opened++;
  }
  return opened;
}

describe("a trigger's enforcement", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("is full by default, of every trigger and in each configuration by itself", () => {
    const config = new BreakerConfig();
    for (let i = 0; i < TRIGGER_COUNT; i++) expect(config.enforcing[i]).toBe(100);
    config.enforcing[0] = 1;
    expect(new BreakerConfig().enforcing[0]).toBe(100);
  });

  it("at 0 only reports", () => {
    backend.config.enforcing[Trigger.ENGINE_FATAL] = 0;
    const generation = backend.record.generation;
    expect(backend.file(Outcome.ENGINE_FATAL)).toBe(Cause.ENGINE_FATAL | VERDICT_REPORTED);
    expect(backend.record.state).toBe(State.CLOSED);
    expect(backend.record.generation).toBe(generation);
    expect(backend.record.lastCause).toBe(Cause.NONE);
  });

  it("opens its share of detections", () => {
    expect(openedOf1000(100)).toBe(1000);
    expect(openedOf1000(0)).toBe(0);
    const tenth = openedOf1000(10);
    expect(tenth > 70 && tenth < 130).toBe(true);
    const most = openedOf1000(90);
    expect(most > 870 && most < 930).toBe(true);
  });

  it("spreads the waits of what a low percentage opens like all others", () => {
    const random = new Xorshift(31337);
    let long = 0;
    let opened = 0;
    for (let i = 0; i < 2000; i++) {
      backend = new Backend();
      backend.config.enforcing[Trigger.ENGINE_FATAL] = 20;
      const word = <u32>(random.next() >> 32);
      onOutcome(backend.record, backend.config, backend.now, 1, 0, Outcome.ENGINE_FATAL, 100, 0, word);
      if (backend.record.state !== State.OPEN) continue;
      opened++;
      if (backend.remainingWaitMs() > 5500) long++;
    }
    expect(opened).toBeGreaterThan(300);
    expect(long * 3 > opened && long * 3 < opened * 2).toBe(true);
  });

  it("is drawn once per detection: the trigger is then quiet for a window's length", () => {
    backend.config.consecutiveFailuresThreshold = 0;
    backend.config.enforcing[Trigger.FAILURE_RATE] = 0;
    expect(backend.file(Outcome.FAILURE, 10)).toBe(Cause.FAILURE_RATE | VERDICT_REPORTED);
    backend.config.enforcing[Trigger.FAILURE_RATE] = 100;
    expect(backend.file(Outcome.FAILURE, 50)).toBe(Cause.NONE);
    expect(backend.wait(29999).file(Outcome.FAILURE, 10)).toBe(Cause.NONE);
    expect(backend.wait(1).file(Outcome.FAILURE)).toBe(Cause.FAILURE_RATE);
  });

  it("of one trigger leaves the others alone", () => {
    backend.config.enforcing[Trigger.CONSECUTIVE_FAILURES] = 0;
    expect(backend.file(Outcome.FAILURE, 5)).toBe(Cause.CONSECUTIVE_FAILURES | VERDICT_REPORTED);
    expect(backend.file(Outcome.FAILURE, 4)).toBe(Cause.NONE);
    expect(backend.file(Outcome.FAILURE)).toBe(Cause.FAILURE_RATE);
  });

  it("lets a less telling trigger open when the more telling one is only reported", () => {
    backend.config.enforcing[Trigger.ENGINE_FATAL] = 0;
    backend.config.failureCountThreshold = 1;
    expect(backend.file(Outcome.ENGINE_FATAL)).toBe(Cause.FAILURE_COUNT);
  });

  it("reports the most telling of several that are not enforced", () => {
    backend.config.enforcing[Trigger.OUT_OF_MEMORY] = 0;
    backend.config.enforcing[Trigger.FAILURE_COUNT] = 0;
    backend.config.failureCountThreshold = 2;
    expect(backend.file(Outcome.OUT_OF_MEMORY, 2)).toBe(Cause.OUT_OF_MEMORY | VERDICT_REPORTED);
    expect(backend.file(Outcome.FAILURE)).toBe(Cause.NONE);
  });

  it("concerns no canary and no probe", () => {
    for (let i = 0; i < TRIGGER_COUNT; i++) backend.config.enforcing[i] = 0;
    backend.record.state = State.OPEN;
    backend.ramp();
    expect(backend.canary(Outcome.FAILURE)).toBe(Cause.CANARY_FAILED);
  });

  it("holds for every trigger, each by its own percentage", () => {
    for (let trigger = 0; trigger < TRIGGER_COUNT; trigger++) {
      backend = onlyTrippedBy(trigger);
      const cause = trip(trigger);
      expect(backend.record.state).toBe(State.OPEN);
      expect(backend.record.lastCause).toBe(cause);
      backend = onlyTrippedBy(trigger);
      for (let i = 0; i < TRIGGER_COUNT; i++) backend.config.enforcing[i] = i === trigger ? 0 : 100;
      expect(trip(trigger)).toBe(cause | VERDICT_REPORTED);
      expect(backend.record.state).toBe(State.CLOSED);
    }
  });
});

/** A backend that {@link trip} opens by one of the triggers that count failures, and by no other of them. */
function onlyTrippedBy(trigger: i32): Backend {
  const one = new Backend();
  one.config.minimumNumberOfCalls = 1;
  one.config.consecutiveFailuresThreshold = trigger === Trigger.CONSECUTIVE_FAILURES ? 2 : 0;
  one.config.slowCallRateThreshold = trigger === Trigger.SLOW_CALL_RATE ? 40 : 0;
  one.config.consecutiveSlowCallsThreshold = trigger === Trigger.CONSECUTIVE_SLOW_CALLS ? 2 : 0;
  one.config.failureRateThreshold = trigger === Trigger.FAILURE_RATE ? 1 : 0;
  one.config.failureCountThreshold = trigger === Trigger.FAILURE_COUNT ? 2 : 0;
  return one;
}

/** Trips one trigger; the verdict. */
function trip(trigger: i32): i32 {
  switch (trigger) {
    case Trigger.SLOW_CALL_RATE:
      return backend.firstTokens(10, 10);
    case Trigger.CONSECUTIVE_SLOW_CALLS:
      return backend.firstTokens(2, 2);
    case Trigger.LATENCY_DRIFT:
      return backend.trend(Cause.LATENCY_DRIFT);
    case Trigger.COST_RATE:
      return backend.trend(Cause.COST_RATE);
    case Trigger.BACKPRESSURE:
      return backend.throttle(0, 1);
    case Trigger.ENGINE_FATAL:
      return backend.file(Outcome.ENGINE_FATAL);
    case Trigger.OUT_OF_MEMORY:
      return backend.file(Outcome.OUT_OF_MEMORY, 2);
    case Trigger.FAILURE_RATE:
      return backend.file(Outcome.FAILURE);
    default:
      return backend.file(Outcome.FAILURE, 2);
  }
}

describe("a trend", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("opens a CLOSED backend, by its own cause", () => {
    expect(backend.trend(Cause.LATENCY_DRIFT)).toBe(Cause.LATENCY_DRIFT);
    expect(backend.record.state).toBe(State.OPEN);
    expect(backend.remainingWaitMs()).toBe(5000);
    backend = new Backend();
    expect(backend.trend(Cause.COST_RATE)).toBe(Cause.COST_RATE);
    expect(backend.record.lastCause).toBe(Cause.COST_RATE);
  });

  it("moves nothing in OPEN and half-open", () => {
    backend.open();
    const untilMs = backend.record.openUntilMs;
    expect(backend.wait(1000).trend(Cause.LATENCY_DRIFT)).toBe(Cause.NONE);
    expect(backend.record.openUntilMs).toBe(untilMs);
    backend.ramp();
    expect(backend.trend(Cause.COST_RATE)).toBe(Cause.NONE);
    expect(backend.record.stage).toBe(1);
  });

  it("is nothing but drift or cost", () => {
    for (let cause = -1; cause < 300; cause++) {
      if (cause === Cause.LATENCY_DRIFT || cause === Cause.COST_RATE) continue;
      expect(backend.trend(cause)).toBe(Cause.NONE);
    }
  });

  it("has a verdict whose flags leave its cause's name alone", () => {
    expect(causeName(Cause.COST_RATE | VERDICT_REPORTED | VERDICT_LATE)).toBe("COST_RATE");
  });
});
