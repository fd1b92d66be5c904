import { Mode } from "../../../filter/breaker/config";
import { recordSize } from "../../../filter/breaker/record";
import { restore, Summary } from "../../../filter/breaker/restore";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend } from "./backend";

let backend: Backend = new Backend();
const summary = new Summary();
const before: usize = heap.alloc(4096);

function keep(): void {
  memory.copy(before, changetype<usize>(backend.record), recordSize(30));
}

function isAsKept(): bool {
  return memory.compare(before, changetype<usize>(backend.record), recordSize(30)) === 0;
}

function take(): i32 {
  return restore(backend.record, backend.config, backend.now, summary);
}

describe("what the process before knew", () => {
  beforeEach(() => {
    backend = new Backend();
    summary.state = State.OPEN;
    summary.openings = 3;
    summary.waitMs = 8000;
    summary.isEvidence = true;
    summary.track = 99;
  });

  it("is taken up where it was left", () => {
    expect(take()).toBe(Cause.RESTORED);
    expect(backend.record.state).toBe(State.OPEN);
    expect(backend.record.openings).toBe(3);
    expect(backend.record.isEvidence).toBe(1);
    expect(backend.record.track).toBe(99);
    expect(backend.remainingWaitMs()).toBe(8000);
    expect(backend.wait(8000).probe(1)).toBe(true);
    backend.probeOutcome(1, false);
    expect(backend.remainingWaitMs()).toBe(40000);
  });

  it("of a ramp begins by a probe at once", () => {
    summary.state = State.HALF_OPEN;
    summary.isEvidence = false;
    expect(take()).toBe(Cause.RESTORED);
    expect(backend.record.isEvidence).toBe(0);
    expect(backend.probe(1)).toBe(true);
  });

  it("is taken up once, and only by a record that has not moved", () => {
    take();
    keep();
    expect(take()).toBe(Cause.NONE);
    expect(isAsKept()).toBe(true);
    backend = new Backend().ramp();
    backend.close();
    expect(take()).toBe(Cause.NONE);
    expect(backend.record.state).toBe(State.CLOSED);
  });

  it("is nothing when it was well, makes no sense, or a mode is forced", () => {
    keep();
    summary.state = State.CLOSED;
    expect(take()).toBe(Cause.NONE);
    summary.state = 3;
    expect(take()).toBe(Cause.NONE);
    summary.state = State.OPEN;
    backend.config.mode = Mode.DISABLED;
    expect(take()).toBe(Cause.NONE);
    expect(isAsKept()).toBe(true);
  });

  it("waits no longer than the policy's longest wait, and counts an opening at least", () => {
    summary.waitMs = u64.MAX_VALUE;
    summary.openings = -5;
    take();
    expect(backend.record.openings).toBe(1);
    expect(backend.remainingWaitMs()).toBe(300000);
  });
});
