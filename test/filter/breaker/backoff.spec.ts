import { openWaitMs } from "../../../filter/breaker/backoff";
import { onOutcome } from "../../../filter/breaker/breaker";
import { BreakerConfig } from "../../../filter/breaker/config";
import { Outcome } from "../../../filter/breaker/outcome";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend, Xorshift } from "./backend";

let config: BreakerConfig = new BreakerConfig();
let backend: Backend = new Backend();

describe("the wait in OPEN", () => {
  beforeEach(() => {
    config = new BreakerConfig();
  });

  it("doubles with each opening in a row up to its cap", () => {
    const expected: u64[] = [5000, 10000, 20000, 40000, 80000, 120000, 120000];
    for (let i = 0; i < expected.length; i++) expect(openWaitMs(config, i + 1, 0)).toBe(expected[i]);
  });

  it("never overflows, however many openings and however long the settings", () => {
    config.waitDurationInOpenStateMs = u32.MAX_VALUE;
    config.maxWaitDurationInOpenStateMs = u32.MAX_VALUE;
    expect(openWaitMs(config, i32.MAX_VALUE, 0)).toBe(u32.MAX_VALUE);
    expect(openWaitMs(config, i32.MAX_VALUE, u32.MAX_VALUE)).toBeGreaterThan(<u64>u32.MAX_VALUE);
    expect(openWaitMs(config, i32.MIN_VALUE, 0)).toBe(u32.MAX_VALUE);
  });

  it("is lengthened by 0 to 20 percent, spread over that range", () => {
    const random = new Xorshift(7);
    let low = 0;
    let high = 0;
    for (let i = 0; i < 2000; i++) {
      const waitMs = openWaitMs(config, 1, random.below(u32.MAX_VALUE));
      expect(waitMs >= 5000 && waitMs <= 6000).toBe(true);
      if (waitMs < 5250) low++;
      if (waitMs > 5750) high++;
    }
    expect(low).toBeGreaterThan(400);
    expect(high).toBeGreaterThan(400);
  });

  it("is nothing when the configured wait is nothing", () => {
    config.waitDurationInOpenStateMs = 0;
    expect(openWaitMs(config, 9, u32.MAX_VALUE)).toBe(0);
  });
});

describe("openings in a row", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("make each wait longer while recovery fails", () => {
    backend.open();
    expect(backend.remainingWaitMs()).toBe(5000);
    backend.wait(5000).probe(1);
    backend.probeOutcome(1, false);
    expect(backend.remainingWaitMs()).toBe(10000);
    backend.wait(10000).probe(2);
    backend.probeOutcome(2, true);
    backend.canary(Outcome.FAILURE);
    expect(backend.record.openings).toBe(3);
    expect(backend.remainingWaitMs()).toBe(20000);
  });

  it("go on when it opens again soon after it closed", () => {
    backend.ramp().close().wait(59999).open();
    expect(backend.record.openings).toBe(2);
    expect(backend.remainingWaitMs()).toBe(10000);
  });

  it("start anew when it has stayed closed for long enough", () => {
    backend.ramp().close().wait(60000).open();
    expect(backend.record.openings).toBe(1);
    expect(backend.remainingWaitMs()).toBe(5000);
  });

  it("start anew at once when backoffResetAfter is 0", () => {
    backend.config.backoffResetAfterMs = 0;
    backend.ramp().close().open();
    expect(backend.record.openings).toBe(1);
  });

  it("stop growing at the largest number", () => {
    backend.record.openings = i32.MAX_VALUE;
    backend.open();
    backend.record.openings = i32.MAX_VALUE;
    backend.wait(120000).probe(1);
    expect(backend.probeOutcome(1, false)).toBe(Cause.PROBE_FAILED);
    expect(backend.record.openings).toBe(i32.MAX_VALUE);
    expect(backend.remainingWaitMs()).toBe(120000);
  });

  it("wait five seconds at least after GPU memory ran out, however short the configured wait is", () => {
    backend.config.waitDurationInOpenStateMs = 200;
    backend.file(Outcome.OUT_OF_MEMORY, 2);
    expect(backend.remainingWaitMs()).toBe(5000);
    backend = new Backend();
    backend.config.waitDurationInOpenStateMs = 200;
    backend.open();
    expect(backend.remainingWaitMs()).toBe(200);
  });

  it("spread the wait of backpressure like any other, and none that was asked for", () => {
    backend.jitter = u32.MAX_VALUE;
    backend.throttle(0, 10);
    expect(backend.remainingWaitMs() > 17990 && backend.remainingWaitMs() <= 18000).toBe(true);
    backend = new Backend();
    backend.jitter = u32.MAX_VALUE;
    backend.throttle(60000, 10);
    expect(backend.remainingWaitMs()).toBe(60000);
  });

  it("spread the wait by the random number they are given", () => {
    onOutcome(backend.record, backend.config, backend.now, 1, 0, Outcome.ENGINE_FATAL, 100, 0, u32.MAX_VALUE);
    expect(backend.record.state).toBe(State.OPEN);
    expect(backend.remainingWaitMs() > 5990 && backend.remainingWaitMs() <= 6000).toBe(true);
  });
});
