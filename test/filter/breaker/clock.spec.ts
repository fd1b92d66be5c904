import { Permission, VERDICT_REPORTED } from "../../../filter/breaker/breaker";
import { hasClockStepped } from "../../../filter/breaker/clock";
import { Trigger } from "../../../filter/breaker/config";
import { Outcome } from "../../../filter/breaker/outcome";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend, totalsMatchBuckets } from "./backend";

let backend: Backend = new Backend();

const HOUR_MS: u64 = 3600000;

describe("a clock that goes back a little, as a late worker's does", () => {
  beforeEach(() => {
    backend = new Backend();
    backend.now = 10 * HOUR_MS;
    backend.file(Outcome.NEUTRAL);
  });

  it("means that no time has passed", () => {
    backend.open();
    backend.now -= 3000;
    expect(backend.remainingWaitMs()).toBe(5000);
    expect(backend.probe(1)).toBe(false);
    backend.now += 7999;
    expect(backend.probe(1)).toBe(false);
    backend.now += 1;
    expect(backend.probe(1)).toBe(true);
  });

  it("does not shorten a wait that opens at that moment", () => {
    backend.now -= 3000;
    backend.open();
    expect(backend.record.openUntilMs).toBe(10 * HOUR_MS + 5000);
  });

  it("neither revives nor kills a permit", () => {
    backend.ramp();
    const id = backend.acquire();
    backend.now -= 9000;
    expect(backend.renew(id)).toBe(true);
    backend.now += 9000 + 29999;
    expect(backend.renew(id)).toBe(true);
    backend.wait(30000);
    backend.acquire();
    backend.now -= 5000;
    expect(backend.renew(id)).toBe(false);
  });
});

describe("WIN-3: a clock that steps by an hour", () => {
  beforeEach(() => {
    backend = new Backend();
    backend.now = 10 * HOUR_MS;
    backend.file(Outcome.NEUTRAL);
    backend.config.waitDurationInOpenStateMs = 30000;
  });

  it("is told from a worker that is merely late", () => {
    expect(hasClockStepped(backend.record, backend.now - 10000)).toBe(false);
    expect(hasClockStepped(backend.record, backend.now - 10001)).toBe(true);
    expect(hasClockStepped(backend.record, backend.now + HOUR_MS)).toBe(false);
  });

  it("back, OPEN for not longer than the wait", () => {
    backend.open();
    backend.now -= HOUR_MS;
    expect(backend.remainingWaitMs()).toBe(30000);
    expect(backend.probe(1)).toBe(false);
    expect(backend.permission()).toBe(Permission.REFUSED);
    backend.wait(29999);
    expect(backend.probe(1)).toBe(false);
    backend.wait(1);
    expect(backend.probe(1)).toBe(true);
  });

  it("forward, a trial comes before anything closes", () => {
    backend.open();
    backend.now += HOUR_MS;
    expect(backend.permission()).toBe(Permission.REFUSED);
    expect(backend.probe(1)).toBe(true);
    expect(backend.permission()).toBe(Permission.REFUSED);
    backend.probeOutcome(1, false);
    expect(backend.probe(2)).toBe(false);
    expect(backend.remainingWaitMs()).toBe(60000);
  });

  it("back, with 9 of 10 failures filed: the tenth opens", () => {
    backend.config.consecutiveFailuresThreshold = 0;
    backend.file(Outcome.FAILURE, 9);
    backend.now -= HOUR_MS;
    expect(backend.file(Outcome.FAILURE)).toBe(Cause.FAILURE_RATE);
    expect(totalsMatchBuckets(backend.record)).toBe(true);
  });

  it("back, the window goes on forgetting second by second", () => {
    backend.config.consecutiveFailuresThreshold = 0;
    backend.config.failureRateThreshold = 0;
    backend.file(Outcome.FAILURE, 9);
    backend.now -= HOUR_MS;
    backend.file(Outcome.SUCCESS);
    backend.wait(30000);
    backend.file(Outcome.SUCCESS);
    expect(backend.calls()).toBe(1);
  });

  it("back, a lease and permits end as they would have", () => {
    backend.open().wait(30000).probe(1);
    backend.now -= HOUR_MS;
    expect(backend.probe(2)).toBe(false);
    backend.wait(10000);
    expect(backend.probe(2)).toBe(true);
    backend.probeOutcome(2, true);
    const id = backend.acquire();
    backend.now -= HOUR_MS;
    expect(backend.renew(id)).toBe(true);
    backend.wait(30000);
    expect(backend.renew(id)).toBe(false);
  });

  it("back, permits that nobody renews still die in time and free the ramp", () => {
    backend.ramp();
    backend.acquire();
    backend.acquire();
    backend.now -= HOUR_MS;
    expect(backend.acquire()).toBe(0);
    backend.wait(29999);
    expect(backend.acquire()).toBe(0);
    backend.wait(1);
    expect(backend.acquire()).toBeGreaterThan(0);
  });

  it("back, a Retry-After ends as it would have", () => {
    backend.throttle(60000);
    backend.now -= HOUR_MS;
    backend.file(Outcome.NEUTRAL);
    backend.wait(10000).open();
    expect(backend.remainingWaitMs()).toBe(50000);
    backend.now -= HOUR_MS;
    expect(backend.probe(1)).toBe(false);
    expect(backend.remainingWaitMs()).toBe(50000);
    expect(backend.wait(49999).probe(1)).toBe(false);
    expect(backend.wait(1).probe(1)).toBe(true);
  });

  it("forward, a Retry-After is over, and the ordinary wait is not skipped", () => {
    backend.throttle(60000);
    backend.now += HOUR_MS;
    backend.open();
    expect(backend.remainingWaitMs()).toBe(30000);
  });

  it("back, a trigger that was only reported is quiet for not longer than the window", () => {
    backend.config.enforcing[Trigger.ENGINE_FATAL] = 0;
    expect(backend.file(Outcome.ENGINE_FATAL)).toBe(Cause.ENGINE_FATAL | VERDICT_REPORTED);
    backend.now -= HOUR_MS;
    expect(backend.file(Outcome.ENGINE_FATAL)).toBe(Cause.NONE);
    expect(backend.wait(29999).file(Outcome.ENGINE_FATAL)).toBe(Cause.NONE);
    expect(backend.wait(1).file(Outcome.ENGINE_FATAL)).toBe(Cause.ENGINE_FATAL | VERDICT_REPORTED);
  });

  it("back, first tokens are forgotten second by second like outcomes", () => {
    backend.firstTokens(20, 7);
    backend.now -= HOUR_MS;
    backend.firstTokens(1, 0);
    expect(backend.record.totalFirstTokens).toBe(21);
    backend.wait(30000).firstTokens(1, 0);
    expect(backend.record.totalFirstTokens).toBe(1);
    expect(backend.record.totalSlowCalls).toBe(0);
  });

  it("back to its beginning harms nothing", () => {
    backend.open();
    backend.now = 0;
    backend.probe(1);
    backend.now = 60000;
    expect(backend.probe(1)).toBe(true);
    expect(backend.record.state).toBe(State.HALF_OPEN);
  });
});

describe("a clock at the end of time", () => {
  it("never wraps a deadline into the past", () => {
    backend = new Backend();
    backend.now = u64.MAX_VALUE - 10;
    backend.open();
    expect(backend.record.openUntilMs).toBe(u64.MAX_VALUE);
    expect(backend.probe(1)).toBe(false);
    expect(backend.remainingWaitMs()).toBe(10);
  });
});
