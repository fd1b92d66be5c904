import { Mode, Stage } from "../../../filter/breaker/config";
import { Outcome } from "../../../filter/breaker/outcome";
import { livePermits } from "../../../filter/breaker/permits";
import { stageCap } from "../../../filter/breaker/ramp";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend, DRAWN } from "./backend";

let backend: Backend = new Backend();

/** More successes than the whole ramp asks for. */
function pass(): void {
  for (let i = 0; i < 12; i++) expect(backend.canary(Outcome.SUCCESS)).not.toBe(Cause.RAMP_COMPLETE);
}

describe("a ramp that the engine's signals hold", () => {
  beforeEach(() => {
    backend = new Backend().stages(new Stage(50, 2, 2), new Stage(100, 4, 3)).ramp();
    backend.config.isClosingHeld = true;
  });

  it("is held in its last stage only", () => {
    backend.canary(Outcome.SUCCESS);
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.STAGE_PASSED);
    pass();
    expect(backend.record.state).toBe(State.HALF_OPEN);
    expect(backend.record.stage).toBe(2);
    expect(backend.record.stageSuccesses).toBe(3);
  });

  it("takes canaries on", () => {
    pass();
    expect(backend.isDrawn(DRAWN)).toBe(true);
    expect(backend.acquire()).toBeGreaterThan(0);
    expect(backend.wait(30000).acquireIdle()).toBeGreaterThan(0);
  });

  it("closes with the tick after the hold, in one generation, afresh", () => {
    pass();
    const generation = backend.record.generation;
    expect(backend.tick()).toBe(Cause.NONE);
    backend.config.isClosingHeld = false;
    expect(backend.tick()).toBe(Cause.RAMP_COMPLETE);
    expect(backend.record.state).toBe(State.CLOSED);
    expect(backend.record.generation).toBe(generation + 1);
    expect(backend.tick()).toBe(Cause.NONE);
    expect(backend.calls()).toBe(0);
  });

  it("closes with the next canary when that comes first", () => {
    pass();
    backend.config.isClosingHeld = false;
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.RAMP_COMPLETE);
  });

  it("opens on a failed canary as ever", () => {
    pass();
    expect(backend.canary(Outcome.FAILURE)).toBe(Cause.CANARY_FAILED);
    backend.config.isClosingHeld = false;
    expect(backend.tick()).toBe(Cause.NONE);
    expect(backend.record.state).toBe(State.OPEN);
  });

  it("is not closed by the tick before its successes are there, nor in an earlier stage", () => {
    backend.config.isClosingHeld = false;
    expect(backend.tick()).toBe(Cause.NONE);
    backend.canary(Outcome.SUCCESS);
    expect(backend.tick()).toBe(Cause.NONE);
    backend.canary(Outcome.SUCCESS);
    backend.canary(Outcome.SUCCESS);
    backend.canary(Outcome.SUCCESS);
    expect(backend.tick()).toBe(Cause.NONE);
    expect(backend.record.stageSuccesses).toBe(2);
  });

  it("is not closed by the tick when a push makes an earlier stage shorter", () => {
    backend.config.isClosingHeld = false;
    backend.canary(Outcome.SUCCESS);
    backend.config.stages = [new Stage(50, 2, 1), new Stage(100, 4, 1)];
    expect(backend.tick()).toBe(Cause.NONE);
    expect(backend.record.stage).toBe(1);
  });

  it("stays where it is while a mode is forced", () => {
    pass();
    backend.config.isClosingHeld = false;
    backend.config.mode = Mode.FORCED_CLOSED;
    expect(backend.tick()).toBe(Cause.NONE);
    expect(backend.record.state).toBe(State.HALF_OPEN);
    backend.config.mode = Mode.SHADOW;
    expect(backend.tick()).toBe(Cause.RAMP_COMPLETE);
  });

  it("is not closed without any success, whatever the policy asks for", () => {
    backend.config.stages = [new Stage(100, 1, 0)];
    backend.config.isClosingHeld = false;
    expect(backend.tick()).toBe(Cause.NONE);
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.RAMP_COMPLETE);
  });

  it("is left alone by the tick while it is probing, OPEN or CLOSED", () => {
    backend = new Backend();
    expect(backend.tick()).toBe(Cause.NONE);
    backend.open();
    expect(backend.tick()).toBe(Cause.NONE);
    backend.wait(5000).probe(1);
    backend.record.stageSuccesses = 9;
    expect(backend.tick()).toBe(Cause.NONE);
    expect(backend.record.state).toBe(State.HALF_OPEN);
  });
});

describe("a gateway's share of the ramp", () => {
  beforeEach(() => {
    backend = new Backend().stages(new Stage(100, 4, 5), new Stage(100, 16, 5)).ramp();
  });

  it("bounds the canaries, and gives none beyond the stage's cap", () => {
    backend.config.rampShare = 3;
    for (let i = 0; i < 3; i++) expect(backend.acquire()).toBeGreaterThan(0);
    expect(backend.isDrawn(DRAWN)).toBe(false);
    expect(backend.acquire()).toBe(0);
    backend.config.rampShare = 9;
    expect(backend.acquire()).toBeGreaterThan(0);
    expect(backend.acquire()).toBe(0);
  });

  it("of nothing lets nothing pass, not even a probe of an idle ramp", () => {
    backend.config.rampShare = 0;
    backend.wait(100000);
    expect(backend.isDrawn(DRAWN)).toBe(false);
    expect(backend.acquire()).toBe(0);
    expect(backend.acquireIdle()).toBe(0);
    backend.config.rampShare = -1;
    expect(backend.acquireIdle()).toBeGreaterThan(0);
  });

  it("that shrinks takes back no permit, and counts those that are alive", () => {
    const first = backend.acquire();
    backend.acquire();
    backend.config.rampShare = 1;
    expect(livePermits(backend.record, backend.now)).toBe(2);
    backend.release(first);
    expect(backend.acquire()).toBe(0);
  });

  it("leaves the stage's cap, which is told to the others, as the policy has it", () => {
    backend.config.rampShare = 1;
    expect(stageCap(backend.record, backend.config)).toBe(4);
    backend.config.stages = [new Stage(5, 99, 5)];
    expect(stageCap(backend.record, backend.config)).toBe(16);
    backend.config.stages = [new Stage(5, -1, 5)];
    expect(stageCap(backend.record, backend.config)).toBe(1);
  });
});
