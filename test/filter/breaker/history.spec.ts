import { transitionTo } from "../../../filter/breaker/history";
import { Outcome } from "../../../filter/breaker/outcome";
import {
  adaptRecord,
  HISTORY_SIZE,
  historyAt,
  MAX_RECORD_SIZE,
  recordSize,
  Transition,
} from "../../../filter/breaker/record";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend } from "./backend";

let backend: Backend = new Backend();

function remembered(generation: u32): Transition {
  expect(transitionTo(backend.record, generation) !== null).toBe(true);
  return historyAt(backend.record, generation);
}

function newest(): Transition {
  return remembered(backend.record.generation);
}

describe("a record's history", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("is empty as long as nothing has happened", () => {
    expect(transitionTo(backend.record, 1) === null).toBe(true);
    expect(transitionTo(backend.record, 0) === null).toBe(true);
  });

  it("tells an opening with the figures that caused it", () => {
    backend.config.consecutiveFailuresThreshold = 3;
    backend.file(Outcome.SUCCESS, 2);
    backend.file(Outcome.FAILURE, 2, 50);
    backend.file(Outcome.FAILURE);
    expect(newest().from).toBe(State.CLOSED);
    expect(newest().to).toBe(State.OPEN);
    expect(newest().cause).toBe(Cause.CONSECUTIVE_FAILURES);
    expect(newest().generation).toBe(2);
    expect(newest().openings).toBe(1);
    expect(newest().atMs).toBe(backend.now);
    expect(newest().waitMs).toBe(5000);
    expect(newest().calls).toBe(5);
    expect(newest().weightedFailures).toBe(200);
    expect(newest().consecutiveFailures).toBe(3);
  });

  it("shows the window before it is cleared by a closing, and nothing that has left it", () => {
    backend.file(Outcome.SUCCESS, 7);
    backend.wait(3000).ramp();
    backend.close();
    expect(newest().to).toBe(State.CLOSED);
    expect(newest().cause).toBe(Cause.RAMP_COMPLETE);
    expect(newest().calls).toBe(8);
    expect(newest().waitMs).toBe(0);
    expect(backend.calls()).toBe(0);
    backend.file(Outcome.SUCCESS, 7);
    backend.wait(29000).open();
    expect(newest().calls).toBe(8);
    backend.wait(30000).probe(1);
    expect(newest().calls).toBe(0);
    expect(newest().stage).toBe(0);
    backend.probeOutcome(1, true);
    expect(newest().stage).toBe(1);
  });

  it("holds the last eight transitions and no other", () => {
    backend.open();
    for (let owner: u64 = 1; owner <= 10; owner++) {
      backend.wait(200000).probe(owner);
      backend.probeOutcome(owner, false);
    }
    const generation = backend.record.generation;
    expect(generation).toBe(22);
    for (let i = 0; i < HISTORY_SIZE; i++) {
      const transition = remembered(generation - i);
      expect(transition.to).toBe(i % 2 === 0 ? State.OPEN : State.HALF_OPEN);
      expect(transition.from).toBe(i % 2 === 0 ? State.HALF_OPEN : State.OPEN);
    }
    expect(transitionTo(backend.record, generation - HISTORY_SIZE) === null).toBe(true);
    expect(transitionTo(backend.record, generation + 1) === null).toBe(true);
  });

  it("goes on when the generations begin anew", () => {
    backend.record.generation = u32.MAX_VALUE;
    backend.open();
    expect(backend.record.generation).toBe(1);
    expect(newest().to).toBe(State.OPEN);
    expect(transitionTo(backend.record, u32.MAX_VALUE) === null).toBe(true);
  });

  it("outlives a push of another window size", () => {
    backend.open();
    const place = changetype<usize>(backend.record);
    const other = heap.alloc(<usize>MAX_RECORD_SIZE);
    adaptRecord(place, recordSize(30), other, 90, backend.now);
    memory.copy(place, other, <usize>recordSize(90));
    heap.free(other);
    expect(newest().cause).toBe(Cause.ENGINE_FATAL);
    expect(newest().calls).toBe(1);
    expect(transitionTo(backend.record, 1) === null).toBe(true);
  });

  it("moves back with a clock that steps back", () => {
    backend.now = 36000000;
    backend.open();
    backend.now -= 3600000;
    backend.file(Outcome.NEUTRAL);
    expect(newest().atMs).toBe(32400000);
  });
});

describe("evidence of its own", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("begins with an opening from CLOSED, outlives probes and canaries, and ends with CLOSED", () => {
    expect(backend.record.isEvidence).toBe(0);
    backend.open();
    expect(backend.record.isEvidence).toBe(1);
    backend.wait(5000).probe(1);
    backend.probeOutcome(1, false);
    backend.ramp();
    expect(backend.record.isEvidence).toBe(1);
    backend.close();
    expect(backend.record.isEvidence).toBe(0);
  });

  it("is none when the group's word opened it, whatever its canaries find", () => {
    backend.move(backend.word(State.OPEN, Cause.GROUP_OPENED, 1));
    expect(backend.record.isEvidence).toBe(0);
    backend.probe(1);
    backend.probeOutcome(1, true);
    expect(backend.canary(Outcome.FAILURE)).toBe(Cause.CANARY_FAILED);
    expect(backend.record.isEvidence).toBe(0);
  });

  it("stays what it was when the group opens what is open", () => {
    backend.open();
    const word = backend.word(State.OPEN, Cause.GROUP_OPENED, 1);
    word.openings = 4;
    backend.move(word);
    expect(backend.record.isEvidence).toBe(1);
  });
});
