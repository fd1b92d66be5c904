import { Permission, VERDICT_LATE } from "../../../filter/breaker/breaker";
import { Stage } from "../../../filter/breaker/config";
import { Outcome } from "../../../filter/breaker/outcome";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend, DRAWN, NOT_DRAWN, Xorshift } from "./backend";

let backend: Backend = new Backend();

describe("the draw of canaries", () => {
  beforeEach(() => {
    backend = new Backend().ramp();
  });

  it("takes the stage's share of requests", () => {
    const random = new Xorshift(4711);
    let drawn = 0;
    for (let i = 0; i < 20000; i++) if (backend.isDrawn(<u32>(random.next() >> 32))) drawn++;
    expect(drawn > 850 && drawn < 1150).toBe(true);
  });

  it("takes all at 100 percent and none at 0", () => {
    backend.config.stages = [new Stage(100, 2, 5)];
    expect(backend.isDrawn(NOT_DRAWN)).toBe(true);
    backend.config.stages = [new Stage(0, 2, 5)];
    expect(backend.isDrawn(DRAWN)).toBe(false);
  });

  it("takes the next request when none was taken for canaryNoDrawAfter", () => {
    expect(backend.wait(9999).isDrawn(NOT_DRAWN)).toBe(false);
    expect(backend.wait(1).isDrawn(NOT_DRAWN)).toBe(true);
    backend.acquire();
    expect(backend.isDrawn(NOT_DRAWN)).toBe(false);
    expect(backend.wait(10000).isDrawn(NOT_DRAWN)).toBe(true);
  });

  it("takes none while no permit is free", () => {
    const first = backend.acquire();
    backend.acquire();
    expect(backend.isDrawn(DRAWN)).toBe(false);
    expect(backend.wait(20000).isDrawn(DRAWN)).toBe(false);
    backend.release(first);
    expect(backend.isDrawn(DRAWN)).toBe(true);
  });

  it("changes nothing", () => {
    const generation = backend.record.generation;
    for (let i = 0; i < 100; i++) backend.isDrawn(DRAWN);
    expect(backend.record.generation).toBe(generation);
    expect(backend.acquire()).toBeGreaterThan(0);
  });
});

describe("a ramp that no caller feeds", () => {
  beforeEach(() => {
    backend = new Backend().ramp();
  });

  it("is fed by a probe after twice the time that a draw is waited for", () => {
    expect(backend.wait(19999).acquireIdle()).toBe(0);
    expect(backend.wait(1).acquireIdle()).toBeGreaterThan(0);
    // One at a time: the next one waits again.
    expect(backend.acquireIdle()).toBe(0);
    expect(backend.wait(20000).acquireIdle()).toBeGreaterThan(0);
  });

  it("is left to the callers while there are any", () => {
    backend.wait(15000).acquire();
    expect(backend.wait(19999).acquireIdle()).toBe(0);
  });

  it("keeps the cap", () => {
    backend.config.permitTimeoutMs = 100000;
    backend.acquire();
    backend.acquire();
    expect(backend.wait(20000).acquireIdle()).toBe(0);
  });

  it("closes by probes alone", () => {
    for (let i = 0; i < 5; i++) {
      const id = backend.wait(20000).acquireIdle();
      backend.finish(backend.record.generation, id, Outcome.SUCCESS);
    }
    expect(backend.record.state).toBe(State.CLOSED);
  });

  it("is no ramp in Closed and Open", () => {
    backend = new Backend();
    expect(backend.wait(60000).acquireIdle()).toBe(0);
    backend.open();
    expect(backend.wait(60000).acquireIdle()).toBe(0);
  });
});

describe("the ramp", () => {
  beforeEach(() => {
    backend = new Backend().ramp();
  });

  it("permits canaries only", () => {
    expect(backend.permission()).toBe(Permission.CANARY_ONLY);
    expect(backend.probe(5)).toBe(false);
  });

  it("closes after the configured successes in a row", () => {
    for (let i = 0; i < 4; i++) expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.NONE);
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.RAMP_COMPLETE);
    expect(backend.record.state).toBe(State.CLOSED);
    expect(backend.record.stage).toBe(0);
  });

  it("closes with an empty window and no streak", () => {
    backend.close();
    expect(backend.calls()).toBe(0);
    expect(backend.record.totalWeightedFailures).toBe(0);
    expect(backend.record.consecutiveFailures).toBe(0);
    expect(backend.file(Outcome.FAILURE, 4)).toBe(Cause.NONE);
  });

  it("opens on the first failed canary, whatever went before", () => {
    for (let i = 0; i < 4; i++) backend.canary(Outcome.SUCCESS);
    expect(backend.canary(Outcome.FAILURE)).toBe(Cause.CANARY_FAILED);
    expect(backend.record.state).toBe(State.OPEN);
    expect(backend.record.openings).toBe(2);
    expect(backend.remainingWaitMs()).toBe(10000);
  });

  it("opens on every kind of failure, even those whose trigger is off", () => {
    backend.config.engineFatalEnabled = false;
    backend.config.outOfMemoryThreshold = 0;
    expect(backend.canary(Outcome.ENGINE_FATAL)).toBe(Cause.CANARY_FAILED);
    backend.ramp();
    expect(backend.canary(Outcome.OUT_OF_MEMORY)).toBe(Cause.CANARY_FAILED);
  });

  it("forgets earlier successes when it opens", () => {
    for (let i = 0; i < 4; i++) backend.canary(Outcome.SUCCESS);
    backend.canary(Outcome.FAILURE);
    backend.ramp();
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.NONE);
    expect(backend.record.stageSuccesses).toBe(1);
  });

  it("counts no vote of requests without a permit", () => {
    expect(backend.file(Outcome.SUCCESS, 20)).toBe(Cause.NONE);
    expect(backend.file(Outcome.FAILURE, 20)).toBe(Cause.NONE);
    expect(backend.record.stage).toBe(1);
    expect(backend.record.stageSuccesses).toBe(0);
  });

  it("drops the second canary of a generation that the first has ended", () => {
    const generation = backend.record.generation;
    const first = backend.acquire();
    const second = backend.acquire();
    expect(backend.finish(generation, first, Outcome.FAILURE)).toBe(Cause.CANARY_FAILED);
    expect(backend.finish(generation, second, Outcome.FAILURE)).toBe(VERDICT_LATE);
    expect(backend.record.openings).toBe(2);
    expect(backend.release(second)).toBe(false);
  });
});

describe("a ramp of several stages", () => {
  beforeEach(() => {
    backend = new Backend().stages(new Stage(5, 1, 2), new Stage(50, 4, 3)).ramp();
  });

  it("goes from stage to stage, each a generation of its own", () => {
    const generation = backend.record.generation;
    backend.canary(Outcome.SUCCESS);
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.STAGE_PASSED);
    expect(backend.record.stage).toBe(2);
    expect(backend.record.state).toBe(State.HALF_OPEN);
    expect(backend.record.generation).toBe(generation + 1);
    backend.canary(Outcome.SUCCESS);
    backend.canary(Outcome.SUCCESS);
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.RAMP_COMPLETE);
  });

  it("caps each stage by its own number", () => {
    expect(backend.acquire()).toBeGreaterThan(0);
    expect(backend.acquire()).toBe(0);
    backend.record.stage = 2;
    for (let i = 0; i < 3; i++) expect(backend.acquire()).toBeGreaterThan(0);
    expect(backend.acquire()).toBe(0);
  });

  it("frees a canary of an earlier stage without a vote", () => {
    backend.config.stages = [new Stage(5, 3, 1), new Stage(5, 3, 1)];
    const generation = backend.record.generation;
    const straggler = backend.acquire();
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.STAGE_PASSED);
    expect(backend.finish(generation, straggler, Outcome.FAILURE)).toBe(VERDICT_LATE);
    expect(backend.record.stage).toBe(2);
    expect(backend.release(straggler)).toBe(false);
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.RAMP_COMPLETE);
  });

  it("goes on with its last stage when a push shortens the list", () => {
    backend.record.stage = 2;
    backend.config.stages = [new Stage(100, 1, 1)];
    expect(backend.isDrawn(NOT_DRAWN)).toBe(true);
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.RAMP_COMPLETE);
  });

  it("recovers by the default stage when the list is empty", () => {
    backend.config.stages = new StaticArray<Stage>(0);
    for (let i = 0; i < 4; i++) expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.NONE);
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.RAMP_COMPLETE);
  });

  it("always lets one canary pass and always ends, whatever the numbers", () => {
    backend.config.stages = [new Stage(-5, -1, -1)];
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.RAMP_COMPLETE);
  });
});
