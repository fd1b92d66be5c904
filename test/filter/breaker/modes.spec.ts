import { Permission, VERDICT_LATE, VERDICT_REPORTED } from "../../../filter/breaker/breaker";
import { Mode } from "../../../filter/breaker/config";
import { Outcome } from "../../../filter/breaker/outcome";
import { livePermits } from "../../../filter/breaker/permits";
import { recordSize } from "../../../filter/breaker/record";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend, DRAWN } from "./backend";

let backend: Backend = new Backend();
const before: usize = heap.alloc(4096);

/** Whether a record is what it was when it was kept, its clock apart. */
function keep(): void {
  memory.copy(before, changetype<usize>(backend.record), recordSize(30));
}
function isKept(): bool {
  backend.record.clockMs = load<u64>(before, 8);
  return memory.compare(before, changetype<usize>(backend.record), recordSize(30)) === 0;
}

/** All that a position may tell and ask, but for permits that are held. */
function tellEverything(): void {
  backend.file(Outcome.SUCCESS, 20);
  backend.file(Outcome.ENGINE_FATAL, 20);
  backend.throttle(60000, 20);
  backend.firstTokens(50, 50);
  backend.trend(Cause.LATENCY_DRIFT);
  backend.trend(Cause.COST_RATE);
  backend.probe(9);
  backend.probeOutcome(9, true);
  backend.probeOutcome(1, true);
  backend.abandon(1);
  backend.acquire();
}

describe("SHADOW", () => {
  beforeEach(() => {
    backend = new Backend();
    backend.config.mode = Mode.SHADOW;
  });

  it("opens, probes, ramps and closes as if in earnest, and lets everything pass", () => {
    expect(backend.file(Outcome.FAILURE, 5)).toBe(Cause.CONSECUTIVE_FAILURES);
    expect(backend.record.state).toBe(State.OPEN);
    expect(backend.permission()).toBe(Permission.PERMITTED);
    expect(backend.remainingWaitMs()).toBe(0);
    expect(backend.wait(4999).probe(1)).toBe(false);
    expect(backend.wait(1).probe(1)).toBe(true);
    expect(backend.permission()).toBe(Permission.PERMITTED);
    expect(backend.probeOutcome(1, true)).toBe(Cause.PROBE_SUCCEEDED);
    expect(backend.permission()).toBe(Permission.PERMITTED);
    expect(backend.isDrawn(DRAWN)).toBe(true);
    for (let i = 0; i < 4; i++) expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.NONE);
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.RAMP_COMPLETE);
  });

  it("judges by canaries only, though all the others pass too", () => {
    backend.ramp();
    expect(backend.file(Outcome.SUCCESS, 20)).toBe(Cause.NONE);
    expect(backend.file(Outcome.FAILURE, 20)).toBe(Cause.NONE);
    expect(backend.record.stage).toBe(1);
    expect(backend.record.stageSuccesses).toBe(0);
  });
});

describe("DISABLED", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("lets everything pass, at once and from any state", () => {
    for (let state: i32 = State.CLOSED; state <= State.HALF_OPEN; state++) {
      backend.record.state = state;
      backend.config.mode = Mode.DISABLED;
      expect(backend.permission()).toBe(Permission.PERMITTED);
      expect(backend.remainingWaitMs()).toBe(0);
      expect(backend.isDrawn(DRAWN)).toBe(false);
    }
  });

  it("files nothing and moves nothing, from any state", () => {
    for (let kind = 0; kind < 4; kind++) {
      inState(kind);
      backend.config.mode = Mode.DISABLED;
      backend.wait(600000);
      keep();
      tellEverything();
      expect(isKept()).toBe(true);
    }
  });

  it("still frees the permit of a canary that ends", () => {
    backend.ramp();
    const generation = backend.record.generation;
    const first = backend.acquire();
    const second = backend.acquire();
    backend.config.mode = Mode.DISABLED;
    expect(backend.finish(generation, first, Outcome.SUCCESS)).toBe(Cause.NONE);
    expect(backend.release(second)).toBe(true);
    expect(livePermits(backend.record, backend.now)).toBe(0);
    expect(backend.record.stageSuccesses).toBe(0);
  });
});

describe("FORCED_OPEN", () => {
  it("refuses everything, tells no wait, files nothing and moves nothing, from any state", () => {
    for (let kind = 0; kind < 4; kind++) {
      inState(kind);
      backend.config.mode = Mode.FORCED_OPEN;
      expect(backend.permission()).toBe(Permission.REFUSED);
      expect(backend.remainingWaitMs()).toBe(0);
      expect(backend.isDrawn(DRAWN)).toBe(false);
      backend.wait(600000);
      keep();
      tellEverything();
      expect(isKept()).toBe(true);
    }
  });
});

describe("FORCED_CLOSED", () => {
  beforeEach(() => {
    backend = new Backend();
    backend.config.mode = Mode.FORCED_CLOSED;
  });

  it("files outcomes, and only reports what trips, once in a window", () => {
    expect(backend.file(Outcome.FAILURE, 5)).toBe(Cause.CONSECUTIVE_FAILURES | VERDICT_REPORTED);
    expect(backend.file(Outcome.FAILURE, 5)).toBe(Cause.FAILURE_RATE | VERDICT_REPORTED);
    expect(backend.file(Outcome.FAILURE, 50)).toBe(Cause.NONE);
    expect(backend.record.state).toBe(State.CLOSED);
    expect(backend.record.totalFailures).toBe(60);
    expect(backend.firstTokens(10, 10)).toBe(Cause.SLOW_CALL_RATE | VERDICT_REPORTED);
    expect(backend.trend(Cause.COST_RATE)).toBe(Cause.COST_RATE | VERDICT_REPORTED);
    expect(backend.trend(Cause.COST_RATE)).toBe(Cause.NONE);
    expect(backend.permission()).toBe(Permission.PERMITTED);
    expect(backend.wait(30000).file(Outcome.FAILURE)).toBe(Cause.CONSECUTIVE_FAILURES | VERDICT_REPORTED);
  });

  it("lets pass, files and reports from any state, and leaves the state as it is", () => {
    for (let kind = 0; kind < 4; kind++) {
      inState(kind);
      const state = backend.record.state;
      const generation = backend.record.generation;
      backend.config.mode = Mode.FORCED_CLOSED;
      expect(backend.permission()).toBe(Permission.PERMITTED);
      expect(backend.remainingWaitMs()).toBe(0);
      backend.wait(600000);
      expect(backend.file(Outcome.ENGINE_FATAL)).toBe(Cause.ENGINE_FATAL | VERDICT_REPORTED);
      tellEverything();
      expect(backend.record.state).toBe(state);
      expect(backend.record.generation).toBe(generation);
      expect(backend.record.totalFailures).toBe(21);
    }
  });

  it("drops what was admitted before the last transition, like any other mode", () => {
    backend = new Backend();
    const before = backend.record.generation;
    backend.open();
    backend.config.mode = Mode.FORCED_CLOSED;
    expect(backend.finish(before, 0, Outcome.FAILURE)).toBe(VERDICT_LATE);
  });
});

describe("a mode that comes to its end", () => {
  it("leaves an opening to go on where it was: a probe comes before anything passes", () => {
    const modes: i32[] = [Mode.DISABLED, Mode.FORCED_OPEN, Mode.FORCED_CLOSED];
    for (let i = 0; i < modes.length; i++) {
      backend = new Backend().open();
      backend.config.mode = modes[i];
      backend.wait(600000);
      tellEverything();
      backend.config.mode = Mode.ENFORCE;
      expect(backend.permission()).toBe(Permission.REFUSED);
      backend.now = max(backend.now, backend.record.openUntilMs);
      expect(backend.probe(3)).toBe(true);
      expect(backend.probeOutcome(3, true)).toBe(Cause.PROBE_SUCCEEDED);
      expect(backend.close().record.state).toBe(State.CLOSED);
      expect(backend.calls()).toBe(0);
    }
  });

  it("leaves no trigger quiet for what was only reported while it let everything pass", () => {
    backend = new Backend();
    backend.config.mode = Mode.FORCED_CLOSED;
    expect(backend.file(Outcome.FAILURE, 5)).toBe(Cause.CONSECUTIVE_FAILURES | VERDICT_REPORTED);
    backend.config.mode = Mode.ENFORCE;
    expect(backend.file(Outcome.FAILURE)).toBe(Cause.CONSECUTIVE_FAILURES);
    expect(backend.record.state).toBe(State.OPEN);
  });
});

/** 0 CLOSED, 1 OPEN, 2 probing by owner 1, 3 in the ramp. */
function inState(kind: i32): void {
  backend = new Backend();
  if (kind === 1) backend.open();
  if (kind === 2) backend.open().wait(5000).probe(1);
  if (kind === 3) backend.ramp();
}
