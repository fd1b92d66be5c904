import { VERDICT_LATE, VERDICT_REPORTED } from "../../../filter/breaker/breaker";
import { Mode, Stage } from "../../../filter/breaker/config";
import { transitionTo } from "../../../filter/breaker/history";
import { Move } from "../../../filter/breaker/move";
import { Outcome } from "../../../filter/breaker/outcome";
import { livePermits } from "../../../filter/breaker/permits";
import { stageCap } from "../../../filter/breaker/ramp";
import { BackendRecord, historyAt, MAX_RECORD_SIZE, recordSize } from "../../../filter/breaker/record";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend, totalsMatchBuckets, Xorshift } from "./backend";

const STEPS: i32 = 80000;
const SIZE: i32 = recordSize(12);
const before: usize = heap.alloc(<usize>MAX_RECORD_SIZE);

/** Requests, probers, a group that talks in between, signals that come and go, modes: and what must hold after each step. */
@final
class MovedCrowd {
  backend: Backend = new Backend(12);
  random: Xorshift;
  /** Two to a request that is under way: generation and permit. */
  attempts: u32[] = [];
  verdict: i32 = 0;
  version: u64 = 0;
  broken: string = "";

  moved: i32 = 0;
  stale: i32 = 0;
  noted: i32 = 0;
  held: i32 = 0;
  closedByTick: i32 = 0;

  constructor(seed: u64) {
    this.random = new Xorshift(seed);
    this.backend.stages(new Stage(60, 2, 1), new Stage(90, 5, 2));
    this.backend.config.maxWaitDurationInOpenStateMs = 6000;
    this.backend.config.maxRetryAfterMs = 6000;
  }

  run(): void {
    for (let step = 0; step < STEPS && this.broken === ""; step++) {
      this.backend.wait(this.random.below(this.random.below(40) === 0 ? 8000 : 150));
      this.step();
    }
  }

  private step(): void {
    const record = this.backend.record;
    const generation = record.generation;
    const track = record.track;
    const state = record.state;
    this.verdict = Cause.NONE;
    this.backend.jitter = <u32>(this.random.next() >> 32);
    const kind = this.random.below(32);
    if (kind < 10) this.admit();
    else if (kind < 17) this.finish();
    else if (kind < 23) this.probe();
    else if (kind < 24) this.say();
    else if (kind < 27) this.direct();
    else this.tick();

    const cause = this.verdict & 0xff;
    const isMoved = cause !== Cause.NONE && (this.verdict & VERDICT_REPORTED) === 0;
    this.check(record.generation === generation + (isMoved ? 1 : 0), "a generation is a transition");
    this.check(record.track >= track, "the track never falls");
    this.check(totalsMatchBuckets(record), "totals are the sum of the buckets");
    if (isMoved) this.checkHistory(state, cause);
    this.check(record.state !== State.CLOSED || record.isEvidence === 0, "CLOSED is no evidence");
  }

  private checkHistory(from: i32, cause: i32): void {
    const record = this.backend.record;
    this.check(transitionTo(record, record.generation) !== null, "each transition is remembered");
    const newest = historyAt(record, record.generation);
    this.check(newest.from === from && newest.to === record.state, "the newest entry is the record's state");
    this.check(newest.stage === record.stage && newest.openings === record.openings, "so are its numbers");
    this.check(newest.cause === cause && cause === record.lastCause, "so is its cause");
    this.check(newest.atMs === record.stateSinceMs, "so is its time");
    const waitMs = record.state === State.OPEN ? record.openUntilMs - record.stateSinceMs : 0;
    this.check(newest.waitMs === waitMs, "so is its wait");
  }

  private admit(): void {
    const backend = this.backend;
    const config = backend.config;
    if (backend.record.state === State.CLOSED) {
      this.attempts.push(backend.record.generation);
      this.attempts.push(0);
      return;
    }
    const liveBefore = livePermits(backend.record, backend.now);
    const id = this.random.below(4) === 0 ? backend.acquireIdle() : backend.acquire();
    if (id === 0) return;
    const cap = stageCap(backend.record, config);
    const allowed = config.rampShare < 0 ? cap : min(cap, config.rampShare);
    this.check(liveBefore < allowed, "a new permit keeps to share and cap");
    this.attempts.push(backend.record.generation);
    this.attempts.push(id);
  }

  private finish(): void {
    if (this.attempts.length === 0) return;
    const permit = this.attempts.pop();
    const generation = this.attempts.pop();
    const record = this.backend.record;
    const isLast = record.state === State.HALF_OPEN && record.stage === 2;
    const isWell = this.random.below(40) !== 0;
    this.verdict = this.backend.finish(generation, permit, isWell ? Outcome.SUCCESS : Outcome.ENGINE_FATAL);
    if (!isLast || !this.backend.config.isClosingHeld) return;
    this.check(this.verdict !== Cause.RAMP_COMPLETE, "what is held does not close");
    this.check(record.state !== State.HALF_OPEN || record.stageSuccesses <= 2, "successes stay at the need");
    if (record.state === State.HALF_OPEN && record.stageSuccesses === 2) this.held++;
  }

  private probe(): void {
    const owner: u64 = this.random.below(2);
    if (this.random.below(2) === 0) {
      if (this.backend.probe(owner)) this.verdict = Cause.WAIT_OVER;
    } else {
      this.verdict = this.backend.probeOutcome(owner, this.random.below(8) !== 0);
    }
  }

  private say(): void {
    const record = this.backend.record;
    const move = this.anyMove();
    const isStale = move.expectedGeneration !== record.generation || move.version <= record.track;
    const isReset = move.to === State.CLOSED && move.cause === Cause.OPERATOR_RESET;
    const wasClosed = record.state === State.CLOSED;
    memory.copy(before, changetype<usize>(record), SIZE);
    const openUntilMs = record.openUntilMs;
    const wasOpen = record.state === State.OPEN;
    this.verdict = this.backend.move(move);
    if ((this.verdict & VERDICT_LATE) !== 0) {
      this.stale++;
      this.check(
        isStale || this.backend.config.mode > Mode.SHADOW,
        "only what is stale or forced is refused",
      );
      // But for the clock, which every asker tells.
      changetype<BackendRecord>(before).clockMs = record.clockMs;
      this.check(memory.compare(before, changetype<usize>(record), SIZE) === 0, "it changes nothing");
      return;
    }
    this.check(!isStale, "what is stale is refused");
    this.check(record.track === move.version, "the version is noted");
    if (this.verdict === Cause.NONE) this.noted++;
    else this.moved++;
    this.check(!move.isOwn || this.verdict === Cause.NONE, "its own transition is only noted");
    const isLeftAlone = wasClosed && !move.isForAll;
    this.check(!isLeftAlone || this.verdict === Cause.NONE, "CLOSED is moved by what is for all");
    this.check(!isReset || move.isOwn || isLeftAlone || record.openings === 0, "a reset begins anew");
    const isLonger = !wasOpen || record.state !== State.OPEN || record.openUntilMs >= openUntilMs;
    this.check(isLonger, "an opening is never made shorter");
    const isShown = move.isOwn || isLeftAlone || record.state === move.to;
    this.check(isShown || (wasClosed && move.to === State.HALF_OPEN), "the record is where the word put it");
  }

  private anyMove(): Move {
    const to = <i32>this.random.below(3);
    const move = this.backend.word(to, Cause.GROUP_OPENED + <i32>this.random.below(4), 0);
    const fate = this.random.below(8);
    if (fate === 0) move.expectedGeneration -= 1;
    move.version = fate === 1 ? this.version : ++this.version;
    move.stage = 1 + <i32>this.random.below(3);
    move.openings = <i32>this.random.below(6);
    move.waitMs = this.random.below(20000);
    move.isForAll = this.random.below(3) !== 0;
    move.isOwn = this.random.below(6) === 0;
    return move;
  }

  private direct(): void {
    const config = this.backend.config;
    const kind = this.random.below(6);
    if (kind < 3) config.isClosingHeld = this.random.below(2) === 0;
    else if (kind === 3) config.rampShare = <i32>this.random.below(6) - 1;
    else if (kind === 4) config.mode = Mode.ENFORCE;
    else if (this.random.below(4) === 0) config.mode = <i32>this.random.below(5);
  }

  private tick(): void {
    this.verdict = this.backend.tick();
    if (this.verdict === Cause.NONE) return;
    this.closedByTick++;
    this.check(!this.backend.config.isClosingHeld, "the tick closes nothing that is held");
  }

  private check(holds: bool, rule: string): void {
    if (!holds && this.broken === "") this.broken = rule;
  }
}

describe("whatever a crowd, a group and the signals do", () => {
  it("every rule holds after every step", () => {
    for (let seed: u64 = 1; seed <= 4; seed++) {
      const crowd = new MovedCrowd(seed * 88172645463325);
      crowd.run();
      expect(crowd.broken).toBe("");
      expect(crowd.moved).toBeGreaterThan(200);
      expect(crowd.stale).toBeGreaterThan(200);
      expect(crowd.noted).toBeGreaterThan(200);
      expect(crowd.held).toBeGreaterThan(20);
      expect(crowd.closedByTick).toBeGreaterThan(5);
    }
  });
});
