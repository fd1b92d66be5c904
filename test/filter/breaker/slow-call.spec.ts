import { onFirstTokens, VERDICT_LATE } from "../../../filter/breaker/breaker";
import { BreakerConfig } from "../../../filter/breaker/config";
import { Outcome } from "../../../filter/breaker/outcome";
import { isSlowFirstToken } from "../../../filter/breaker/slow-call";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend, totalsMatchBuckets } from "./backend";

let backend: Backend = new Backend();

describe("a first token", () => {
  it("is slow above the threshold, and not at it", () => {
    const config = new BreakerConfig();
    expect(isSlowFirstToken(config, 8000, 0)).toBe(false);
    expect(isSlowFirstToken(config, 8001, 0)).toBe(true);
  });

  it("may take longer for each token of the prompt", () => {
    const config = new BreakerConfig();
    expect(isSlowFirstToken(config, 208000, 100000)).toBe(false);
    expect(isSlowFirstToken(config, 208001, 100000)).toBe(true);
  });

  it("has no longer limit when the prompt's size is not known, and none overflows", () => {
    const config = new BreakerConfig();
    expect(isSlowFirstToken(config, 8001, -1)).toBe(true);
    config.slowFirstTokenPerPromptTokenMs = u32.MAX_VALUE;
    expect(isSlowFirstToken(config, 1000000000, i32.MAX_VALUE)).toBe(false);
  });
});

describe("the rate of slow calls", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("does not open below the minimum number of first tokens, however many calls there were", () => {
    backend.file(Outcome.SUCCESS, 100);
    expect(backend.firstTokens(9, 9)).toBe(Cause.NONE);
    expect(backend.record.state).toBe(State.CLOSED);
  });

  it("opens at the threshold itself and not just under it", () => {
    expect(backend.firstTokens(100, 39)).toBe(Cause.NONE);
    backend = new Backend();
    expect(backend.firstTokens(99, 39)).toBe(Cause.NONE);
    expect(backend.firstTokens(1, 1)).toBe(Cause.SLOW_CALL_RATE);
    expect(backend.record.state).toBe(State.OPEN);
  });

  it("opens by a quick call when that is the one that makes the minimum", () => {
    backend.firstTokens(9, 9);
    expect(backend.firstTokens(1, 0)).toBe(Cause.SLOW_CALL_RATE);
  });

  it("is a share of first tokens, which outcomes neither dilute nor fill", () => {
    backend.file(Outcome.SUCCESS, 1000);
    expect(backend.firstTokens(10, 4)).toBe(Cause.SLOW_CALL_RATE);
  });

  it("judges first tokens of the window only", () => {
    backend.firstTokens(9, 9);
    backend.wait(30000);
    expect(backend.firstTokens(20, 7)).toBe(Cause.NONE);
    expect(backend.record.totalSlowCalls).toBe(7);
    expect(totalsMatchBuckets(backend.record)).toBe(true);
  });

  it("never has more slow calls than calls", () => {
    backend.firstTokens(5, 500);
    expect(backend.record.totalSlowCalls).toBe(5);
  });

  it("drops first tokens of an earlier generation", () => {
    const before = backend.record.generation;
    backend.ramp().close();
    const now = backend.now;
    expect(onFirstTokens(backend.record, backend.config, now, before, 50, 50, 50, 0)).toBe(VERDICT_LATE);
    expect(backend.record.state).toBe(State.CLOSED);
    expect(backend.record.totalFirstTokens).toBe(0);
  });

  it("does not move in OPEN and half-open, where slowness is the probe's and the canary's matter", () => {
    backend.open();
    expect(backend.firstTokens(50, 50)).toBe(Cause.NONE);
    expect(backend.record.totalFirstTokens).toBe(0);
    backend.ramp();
    expect(backend.firstTokens(50, 50)).toBe(Cause.NONE);
    expect(backend.record.totalFirstTokens).toBe(0);
  });

  it("is off at 0", () => {
    backend.config.slowCallRateThreshold = 0;
    backend.config.consecutiveSlowCallsThreshold = 0;
    expect(backend.firstTokens(1000, 1000)).toBe(Cause.NONE);
  });
});

describe("slow calls in a row", () => {
  beforeEach(() => {
    backend = new Backend();
    backend.config.slowCallRateThreshold = 0;
  });

  it("open at the threshold, whatever the window holds besides", () => {
    backend.firstTokens(10000, 0);
    expect(backend.firstTokens(9, 9)).toBe(Cause.NONE);
    expect(backend.firstTokens(1, 1)).toBe(Cause.CONSECUTIVE_SLOW_CALLS);
    expect(backend.record.state).toBe(State.OPEN);
  });

  it("end with a first token in time, and of a batch only those after it count", () => {
    backend.firstTokens(9, 9);
    expect(backend.firstTokens(1, 0)).toBe(Cause.NONE);
    expect(backend.firstTokens(9, 9)).toBe(Cause.NONE);
    expect(backend.firstTokens(20, 13, 4)).toBe(Cause.NONE);
    expect(backend.record.consecutiveSlowCalls).toBe(4);
    expect(backend.firstTokens(6, 6)).toBe(Cause.CONSECUTIVE_SLOW_CALLS);
  });

  it("stand through a tick without any call", () => {
    backend.firstTokens(9, 9);
    backend.firstTokens(0, 0);
    expect(backend.firstTokens(1, 1)).toBe(Cause.CONSECUTIVE_SLOW_CALLS);
  });

  it("are forgotten once the backend has recovered", () => {
    backend.firstTokens(10, 10);
    backend.ramp().close();
    expect(backend.record.consecutiveSlowCalls).toBe(0);
    expect(backend.firstTokens(9, 9)).toBe(Cause.NONE);
  });

  it("are off at 0", () => {
    backend.config.consecutiveSlowCallsThreshold = 0;
    expect(backend.firstTokens(1000, 1000)).toBe(Cause.NONE);
  });
});
