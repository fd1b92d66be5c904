import { abandonProbe, Permission, tryAcquireProbe, VERDICT_LATE } from "../../../filter/breaker/breaker";
import { adaptRecord, BackendRecord, MAX_RECORD_SIZE, recordSize } from "../../../filter/breaker/record";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend, DRAWN } from "./backend";

let backend: Backend = new Backend();

describe("the probe", () => {
  beforeEach(() => {
    backend = new Backend().open();
  });

  it("is not sent before the wait is over", () => {
    expect(backend.wait(4999).probe(1)).toBe(false);
    expect(backend.record.state).toBe(State.OPEN);
    expect(backend.wait(1).probe(1)).toBe(true);
    expect(backend.record.state).toBe(State.HALF_OPEN);
    expect(backend.record.lastCause).toBe(Cause.WAIT_OVER);
  });

  it("is one, however many ask", () => {
    backend.wait(5000);
    expect(backend.probe(1)).toBe(true);
    for (let owner: u64 = 1; owner < 100; owner++) expect(backend.probe(owner)).toBe(false);
    expect(backend.record.probeOwner).toBe(1);
  });

  it("is won once when two workers race from the same bytes", () => {
    backend.wait(5000);
    const bytes = recordSize(30);
    const mine = heap.alloc(<usize>MAX_RECORD_SIZE);
    memory.copy(mine, changetype<usize>(backend.record), bytes);
    expect(backend.probe(1)).toBe(true);
    const racer = changetype<BackendRecord>(mine);
    expect(tryAcquireProbe(racer, backend.config, backend.now, 2)).toBe(true);
    memory.copy(mine, changetype<usize>(backend.record), bytes);
    expect(tryAcquireProbe(racer, backend.config, backend.now, 2)).toBe(false);
    heap.free(mine);
  });

  it("lets no other traffic pass meanwhile", () => {
    backend.wait(5000).probe(1);
    expect(backend.permission()).toBe(Permission.REFUSED);
    expect(backend.isDrawn(DRAWN)).toBe(false);
    expect(backend.acquire()).toBe(0);
    expect(backend.remainingWaitMs()).toBe(0);
  });

  it("that succeeds starts the ramp", () => {
    backend.wait(5000).probe(1);
    expect(backend.probeOutcome(1, true)).toBe(Cause.PROBE_SUCCEEDED);
    expect(backend.record.state).toBe(State.HALF_OPEN);
    expect(backend.record.stage).toBe(1);
    expect(backend.permission()).toBe(Permission.CANARY_ONLY);
  });

  it("that fails is one more opening with a longer wait", () => {
    backend.wait(5000).probe(1);
    expect(backend.probeOutcome(1, false)).toBe(Cause.PROBE_FAILED);
    expect(backend.record.state).toBe(State.OPEN);
    expect(backend.record.openings).toBe(2);
    expect(backend.remainingWaitMs()).toBe(10000);
    expect(backend.probe(1)).toBe(false);
  });

  it("is taken over from a prober that hangs, once its lease has run out", () => {
    backend.wait(5000).probe(1);
    expect(backend.wait(9999).probe(2)).toBe(false);
    expect(backend.wait(1).probe(2)).toBe(true);
    expect(backend.probe(3)).toBe(false);
  });

  it("has no verdict by a prober that was replaced", () => {
    backend.wait(5000).probe(1);
    backend.wait(10000).probe(2);
    const generation = backend.record.generation;
    expect(backend.probeOutcome(1, false)).toBe(VERDICT_LATE);
    expect(backend.probeOutcome(1, true)).toBe(VERDICT_LATE);
    expect(abandonProbe(backend.record, backend.config, backend.now, 1)).toBe(VERDICT_LATE);
    expect(backend.record.generation).toBe(generation);
    expect(backend.probeOutcome(2, true)).toBe(Cause.PROBE_SUCCEEDED);
  });

  it("may still be told by a slow prober whom nobody has replaced", () => {
    backend.wait(5000).probe(1);
    backend.wait(60000);
    expect(backend.probeOutcome(1, false)).toBe(Cause.PROBE_FAILED);
  });

  it("has one verdict", () => {
    backend.wait(5000).probe(1);
    backend.probeOutcome(1, false);
    expect(backend.probeOutcome(1, false)).toBe(VERDICT_LATE);
    expect(backend.record.openings).toBe(2);
    backend.wait(10000).probe(1);
    backend.probeOutcome(1, true);
    expect(backend.probeOutcome(1, false)).toBe(VERDICT_LATE);
    expect(backend.record.stage).toBe(1);
  });

  it("that was never sent is no vote and is tried again in a second", () => {
    backend.wait(5000).probe(1);
    expect(abandonProbe(backend.record, backend.config, backend.now, 1)).toBe(Cause.PROBE_ABANDONED);
    expect(backend.record.state).toBe(State.OPEN);
    expect(backend.record.openings).toBe(1);
    expect(backend.remainingWaitMs()).toBe(1000);
    expect(backend.wait(999).probe(2)).toBe(false);
    expect(backend.wait(1).probe(2)).toBe(true);
    expect(backend.probeOutcome(2, false)).toBe(Cause.PROBE_FAILED);
    expect(backend.record.openings).toBe(2);
  });

  it("and its lease outlive a push that changes the window size", () => {
    backend.wait(5000).probe(7);
    const ptr = heap.alloc(<usize>MAX_RECORD_SIZE);
    adaptRecord(changetype<usize>(backend.record), recordSize(30), ptr, 60, backend.now);
    const record = changetype<BackendRecord>(ptr);
    expect(tryAcquireProbe(record, backend.config, backend.now + 9999, 8)).toBe(false);
    expect(tryAcquireProbe(record, backend.config, backend.now + 10000, 8)).toBe(true);
    heap.free(ptr);
  });
});
