import { Permission, VERDICT_LATE } from "../../../filter/breaker/breaker";
import { Mode, Stage } from "../../../filter/breaker/config";
import { Outcome } from "../../../filter/breaker/outcome";
import { recordSize } from "../../../filter/breaker/record";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend } from "./backend";

let backend: Backend = new Backend();
const before: usize = heap.alloc(4096);

function keep(): void {
  memory.copy(before, changetype<usize>(backend.record), recordSize(30));
}

function isAsKept(): bool {
  return memory.compare(before, changetype<usize>(backend.record), recordSize(30)) === 0;
}

describe("a word of the group", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("opens a CLOSED backend for its wait, as so many openings in a row", () => {
    const word = backend.word(State.OPEN, Cause.GROUP_OPENED, 7);
    word.openings = 3;
    word.waitMs = 12000;
    expect(backend.move(word)).toBe(Cause.GROUP_OPENED);
    expect(backend.record.state).toBe(State.OPEN);
    expect(backend.record.track).toBe(7);
    expect(backend.record.openings).toBe(3);
    expect(backend.remainingWaitMs()).toBe(12000);
    expect(backend.permission()).toBe(Permission.REFUSED);
  });

  it("leaves a CLOSED backend alone unless it is for all, and takes note", () => {
    const word = backend.word(State.OPEN, Cause.GROUP_PROBED, 7);
    word.isForAll = false;
    expect(backend.move(word)).toBe(Cause.NONE);
    expect(backend.record.state).toBe(State.CLOSED);
    expect(backend.record.track).toBe(7);
    expect(backend.record.generation).toBe(1);
  });

  it("is taken once, and never after a later one", () => {
    const word = backend.word(State.OPEN, Cause.GROUP_OPENED, 7);
    backend.move(word);
    keep();
    word.expectedGeneration = backend.record.generation;
    word.to = State.CLOSED;
    expect(backend.move(word)).toBe(VERDICT_LATE);
    word.version = 6;
    expect(backend.move(word)).toBe(VERDICT_LATE);
    expect(isAsKept()).toBe(true);
  });

  it("overrules nothing that the record has done since", () => {
    const word = backend.word(State.CLOSED, Cause.GROUP_CLOSED, 7);
    backend.open();
    keep();
    expect(backend.move(word)).toBe(VERDICT_LATE);
    word.isOwn = true;
    expect(backend.move(word)).toBe(VERDICT_LATE);
    expect(isAsKept()).toBe(true);
  });

  it("about its own transition is only noted", () => {
    backend.open();
    const word = backend.word(State.CLOSED, Cause.GROUP_CLOSED, 7);
    word.isOwn = true;
    expect(backend.move(word)).toBe(Cause.NONE);
    expect(backend.record.track).toBe(7);
    expect(backend.record.state).toBe(State.OPEN);
    expect(backend.record.generation).toBe(2);
  });

  it("makes the same opening longer, never shorter, without a transition", () => {
    backend.open();
    const word = backend.word(State.OPEN, Cause.GROUP_OPENED, 7);
    word.openings = 1;
    word.waitMs = 2000;
    expect(backend.move(word)).toBe(Cause.NONE);
    expect(backend.remainingWaitMs()).toBe(5000);
    word.version = 8;
    word.waitMs = 9000;
    expect(backend.move(word)).toBe(Cause.NONE);
    expect(backend.remainingWaitMs()).toBe(9000);
    expect(backend.record.generation).toBe(2);
    expect(backend.record.track).toBe(8);
  });

  it("of one more opening is a transition, though it is OPEN", () => {
    backend.open();
    const word = backend.word(State.OPEN, Cause.GROUP_PROBED, 7);
    word.openings = 2;
    word.waitMs = 10000;
    expect(backend.move(word)).toBe(Cause.GROUP_PROBED);
    expect(backend.record.generation).toBe(3);
    expect(backend.record.openings).toBe(2);
    expect(backend.remainingWaitMs()).toBe(10000);
  });

  it("keeps to a Retry-After, and to the longest wait of the policy", () => {
    backend.throttle(60000);
    const word = backend.word(State.OPEN, Cause.GROUP_OPENED, 7);
    word.waitMs = 1000;
    backend.move(word);
    expect(backend.remainingWaitMs()).toBe(60000);
    backend = new Backend();
    backend.config.maxRetryAfterMs = 1000;
    backend.config.maxWaitDurationInOpenStateMs = 100000;
    word.expectedGeneration = 1;
    word.waitMs = u64.MAX_VALUE;
    backend.move(word);
    const longestMs = backend.remainingWaitMs();
    expect(longestMs > 119000 && longestMs <= 120000).toBe(true);
  });

  it("ends a probe of its own: its verdict is late", () => {
    backend.open().wait(5000).probe(1);
    backend.move(backend.word(State.OPEN, Cause.GROUP_PROBED, 7));
    expect(backend.record.state).toBe(State.OPEN);
    expect(backend.probeOutcome(1, true)).toBe(VERDICT_LATE);
  });

  it("moves what is OPEN or probing to the ramp before the wait is over, and callers feed it first", () => {
    backend.open().wait(3000);
    expect(backend.move(backend.word(State.HALF_OPEN, Cause.GROUP_PROBED, 7))).toBe(Cause.GROUP_PROBED);
    expect(backend.record.state).toBe(State.HALF_OPEN);
    expect(backend.record.stage).toBe(1);
    expect(backend.permission()).toBe(Permission.CANARY_ONLY);
    expect(backend.wait(19999).acquireIdle()).toBe(0);
    expect(backend.wait(1).acquireIdle()).toBeGreaterThan(0);
  });

  it("moves the ramp on, and back", () => {
    backend.stages(new Stage(5, 2, 5), new Stage(50, 4, 5)).ramp();
    backend.canary(Outcome.SUCCESS);
    const word = backend.word(State.HALF_OPEN, Cause.GROUP_PROBED, 7);
    expect(backend.move(word)).toBe(Cause.NONE);
    expect(backend.record.stageSuccesses).toBe(1);
    word.version = 8;
    word.stage = 2;
    word.openings = 4;
    expect(backend.move(word)).toBe(Cause.GROUP_PROBED);
    expect(backend.record.stage).toBe(2);
    expect(backend.record.stageSuccesses).toBe(0);
    expect(backend.record.openings).toBe(4);
    expect(backend.move(backend.word(State.HALF_OPEN, Cause.GROUP_PROBED, 9))).toBe(Cause.GROUP_PROBED);
    expect(backend.record.stage).toBe(1);
  });

  it("to a stage that this policy does not have goes on with the last one", () => {
    backend.open();
    const word = backend.word(State.HALF_OPEN, Cause.GROUP_PROBED, 7);
    word.stage = i32.MAX_VALUE;
    backend.move(word);
    for (let i = 0; i < 4; i++) expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.NONE);
    expect(backend.canary(Outcome.SUCCESS)).toBe(Cause.RAMP_COMPLETE);
  });

  it("begins no ramp on a CLOSED backend", () => {
    expect(backend.move(backend.word(State.HALF_OPEN, Cause.GROUP_PROBED, 7))).toBe(Cause.NONE);
    expect(backend.record.state).toBe(State.CLOSED);
    expect(backend.record.track).toBe(7);
  });

  it("closes from OPEN and HALF_OPEN, held or not, afresh", () => {
    backend.ramp();
    backend.config.isClosingHeld = true;
    const openings = backend.record.openings;
    expect(backend.move(backend.word(State.CLOSED, Cause.GROUP_CLOSED, 7))).toBe(Cause.GROUP_CLOSED);
    expect(backend.record.state).toBe(State.CLOSED);
    expect(backend.calls()).toBe(0);
    expect(backend.record.openings).toBe(openings);
    expect(backend.move(backend.word(State.CLOSED, Cause.GROUP_CLOSED, 8))).toBe(Cause.NONE);
    expect(backend.record.track).toBe(8);
  });

  it("that makes no sense changes nothing", () => {
    backend.open();
    backend.file(Outcome.NEUTRAL);
    keep();
    const causes: i32[] = [-1, 0, Cause.PROBE_FAILED, Cause.RESTORED, 0x100 + Cause.GROUP_OPENED];
    for (let i = 0; i < causes.length; i++) {
      expect(backend.move(backend.word(State.CLOSED, causes[i], 7))).toBe(VERDICT_LATE);
    }
    expect(backend.move(backend.word(3, Cause.GROUP_CLOSED, 7))).toBe(VERDICT_LATE);
    expect(backend.move(backend.word(-1, Cause.GROUP_CLOSED, 7))).toBe(VERDICT_LATE);
    const probing = backend.word(State.HALF_OPEN, Cause.GROUP_PROBED, 7);
    probing.stage = 0;
    expect(backend.move(probing)).toBe(VERDICT_LATE);
    expect(isAsKept()).toBe(true);
  });

  it("moves nothing in a forced mode, and is heard when that is over", () => {
    backend.open();
    const word = backend.word(State.CLOSED, Cause.GROUP_CLOSED, 7);
    const modes: i32[] = [Mode.DISABLED, Mode.FORCED_OPEN, Mode.FORCED_CLOSED];
    keep();
    for (let i = 0; i < modes.length; i++) {
      backend.config.mode = modes[i];
      expect(backend.move(word)).toBe(VERDICT_LATE);
    }
    expect(isAsKept()).toBe(true);
    backend.config.mode = Mode.SHADOW;
    expect(backend.move(word)).toBe(Cause.GROUP_CLOSED);
  });
});

describe("an operator's reset", () => {
  beforeEach(() => {
    backend = new Backend();
  });

  it("closes whatever is open, in every mode, and the row of openings begins anew", () => {
    for (let mode: i32 = Mode.ENFORCE; mode <= Mode.FORCED_CLOSED; mode++) {
      backend = new Backend().ramp();
      backend.config.mode = mode;
      expect(backend.move(backend.word(State.CLOSED, Cause.OPERATOR_RESET, 7))).toBe(Cause.OPERATOR_RESET);
      expect(backend.record.state).toBe(State.CLOSED);
      expect(backend.record.openings).toBe(0);
      expect(backend.record.isEvidence).toBe(0);
    }
  });

  it("empties the window and the streak of what is CLOSED, and what is under way no longer counts", () => {
    backend.file(Outcome.FAILURE, 4);
    const generation = backend.record.generation;
    expect(backend.move(backend.word(State.CLOSED, Cause.OPERATOR_RESET, 7))).toBe(Cause.OPERATOR_RESET);
    expect(backend.calls()).toBe(0);
    expect(backend.record.consecutiveFailures).toBe(0);
    expect(backend.finish(generation, 0, Outcome.FAILURE)).toBe(VERDICT_LATE);
    expect(backend.file(Outcome.FAILURE, 4)).toBe(Cause.NONE);
  });
});
