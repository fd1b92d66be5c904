import { abandonProbe, Permission, VERDICT_LATE, VERDICT_REPORTED } from "../../../filter/breaker/breaker";
import { Stage, Trigger } from "../../../filter/breaker/config";
import { Outcome } from "../../../filter/breaker/outcome";
import { isPermitLive, livePermits } from "../../../filter/breaker/permits";
import { MAX_PERMITS } from "../../../filter/breaker/record";
import { Cause, State } from "../../../filter/breaker/state";
import { Backend, totalsMatchBuckets, Xorshift } from "./backend";

const STEPS: i32 = 80000;

/** A request that is under way. */
@final
class Attempt {
  constructor(
    public generation: u32,
    public permitId: u32,
  ) {}
}

/** A wait that the backend asked for. */
@final
class Telling {
  constructor(
    public atMs: u64,
    public untilMs: u64,
  ) {}
}

/** A crowd of requests and probers doing whatever comes to their minds, and what must hold after each step. */
@final
class Crowd {
  backend: Backend = new Backend(12);
  random: Xorshift;
  attempts: Attempt[] = [];
  /** Since it last closed. */
  tellings: Telling[] = [];
  verdict: i32 = 0;
  /** Most failures per 64 ends; a phase's health. */
  sickness: u32 = 4;
  broken: string = "";

  opened: i32 = 0;
  closed: i32 = 0;
  probes: i32 = 0;
  canaries: i32 = 0;
  late: i32 = 0;
  reported: i32 = 0;
  probesInThisOpening: i32 = 0;

  constructor(seed: u64) {
    this.random = new Xorshift(seed);
    this.backend.stages(new Stage(30, 2, 3), new Stage(60, 5, 4));
    this.backend.config.backoffResetAfterMs = 20000;
    this.backend.config.failureCountThreshold = 9;
    this.backend.config.enforcing[Trigger.SLOW_CALL_RATE] = 50;
    this.backend.config.enforcing[Trigger.CONSECUTIVE_FAILURES] = 90;
    this.backend.config.enforcing[Trigger.COST_RATE] = 0;
  }

  run(): void {
    for (let step = 0; step < STEPS && this.broken === ""; step++) {
      if (this.random.below(500) === 0) this.sickness = this.random.below(3) === 0 ? 40 : 1;
      this.passTime();
      this.step();
    }
  }

  private passTime(): void {
    const kind = this.random.below(100);
    if (kind < 90) this.backend.wait(this.random.below(120));
    else if (kind < 98) this.backend.wait(this.random.below(6000));
    else if (kind < 99) this.backend.wait(this.random.below(90000));
    else this.backend.now -= this.random.below(500);
  }

  private step(): void {
    const record = this.backend.record;
    const state = record.state;
    const stage = record.stage;
    const generation = record.generation;
    const openUntilMs = record.openUntilMs;
    const openings = record.openings;
    const seenMs = max(record.clockMs, this.backend.now);
    const leaseIsOver = seenMs >= record.probeLeaseUntilMs;
    const told = this.tellings.length;
    this.verdict = 0;
    this.backend.jitter = <u32>(this.random.next() >> 32);
    const kind = this.random.below(11);
    if (kind < 4) this.admit();
    else if (kind < 8) this.finish();
    else if (kind < 9) this.probe();
    else if (kind < 10) this.slownessOrTrend();
    else this.signOfLifeOrRelease();

    const moved = record.state !== state || record.stage !== stage || record.generation !== generation;
    const cause = this.verdict & 0xff;
    const isLate = (this.verdict & VERDICT_LATE) !== 0;
    const isReported = (this.verdict & VERDICT_REPORTED) !== 0;
    if (isLate) this.late++;
    if (isReported) this.reported++;
    this.check(totalsMatchBuckets(record), "totals are the sum of the buckets");
    this.check(record.generation === generation + (moved ? 1 : 0), "a transition is one generation");
    this.check(moved === (cause !== Cause.NONE && !isReported), "a transition has a cause that is enforced");
    this.check(!moved || record.lastCause === cause, "the record knows its last cause");
    this.check(!isLate || !moved, "what is late moves nothing");
    this.check(livePermits(record, record.clockMs) <= MAX_PERMITS, "permits fit their table");
    this.check(record.clockMs <= seenMs, "the record's clock is not ahead");
    if (moved) this.checkTransition(state, stage, openUntilMs, openings, leaseIsOver, seenMs);
    else if (state === State.OPEN && this.tellings.length > told)
      this.check(record.openUntilMs >= openUntilMs, "a Retry-After never shortens a wait");
    else
      this.check(
        record.openUntilMs === openUntilMs,
        "nothing but a transition or a Retry-After moves the wait's end",
      );
    if (record.state === State.OPEN) this.checkTellings();
  }

  private checkTransition(
    from: i32,
    stage: i32,
    openUntilMs: u64,
    openings: i32,
    leaseIsOver: bool,
    nowMs: u64,
  ): void {
    const record = this.backend.record;
    const isProbing = from === State.HALF_OPEN && stage === 0;
    this.check(record.stateSinceMs === nowMs, "a state begins when it is entered");
    this.check(record.stageSuccesses === 0, "a stage begins without successes");
    if (record.state === State.CLOSED) {
      this.closed++;
      this.tellings = [];
      this.check(from === State.HALF_OPEN && stage === 2, "only the ramp's last stage closes");
      this.check(this.backend.calls() === 0 && record.consecutiveFailures === 0, "CLOSED begins afresh");
    } else if (record.state === State.OPEN) {
      const isAbandoned = record.lastCause === Cause.PROBE_ABANDONED;
      if (!isAbandoned) {
        this.opened++;
        this.probesInThisOpening = 0;
        const isAnew = from === State.CLOSED && record.openings === 1;
        this.check(isAnew || record.openings === openings + 1, "an opening is counted");
      }
      this.check(from !== State.OPEN, "OPEN is entered from elsewhere");
      this.check(!isAbandoned || (isProbing && record.openings === openings), "no vote, no opening");
      const longestMs = nowMs + (this.tellings.length > 0 ? 300000 : 144000);
      this.check(record.openUntilMs > nowMs && record.openUntilMs <= longestMs, "the wait is capped");
    } else if (record.stage === 0) {
      const isFromOpen = from === State.OPEN && nowMs >= openUntilMs;
      this.check(isFromOpen || (isProbing && leaseIsOver), "a probe waits for its turn");
    } else {
      this.check(
        (isProbing && record.stage === 1) || (from === State.HALF_OPEN && record.stage === stage + 1),
        "the ramp is climbed stage by stage",
      );
    }
  }

  /** What was asked for within the window, in this opening or before it, is kept to. */
  private checkTellings(): void {
    const record = this.backend.record;
    for (let i = this.tellings.length - 1; i >= 0; i--) {
      const telling = this.tellings[i];
      const isKept = telling.atMs < record.stateSinceMs - 11999 || record.openUntilMs >= telling.untilMs;
      this.check(isKept, "a Retry-After is kept to");
    }
  }

  private admit(): void {
    const backend = this.backend;
    const permission = backend.permission();
    if (permission === Permission.PERMITTED) {
      this.attempts.push(new Attempt(backend.record.generation, 0));
    } else if (permission === Permission.CANARY_ONLY) {
      if (!backend.isDrawn(<u32>(this.random.next() >> 32))) return;
      const id = backend.acquire();
      this.check(id !== 0, "who is drawn gets a permit when nobody comes between");
      this.canaries++;
      const cap = backend.record.stage === 1 ? 2 : 5;
      this.check(
        livePermits(backend.record, backend.record.clockMs) <= cap,
        "permits keep to the stage's cap",
      );
      this.attempts.push(new Attempt(backend.record.generation, id));
    } else {
      this.check(backend.acquire() === 0, "no canary but in the ramp");
    }
  }

  private finish(): void {
    if (this.attempts.length === 0) return;
    const index = <i32>this.random.below(<u32>this.attempts.length);
    const attempt = this.attempts[index];
    this.attempts[index] = this.attempts[this.attempts.length - 1];
    this.attempts.pop();
    const isSick = this.random.below(64) < this.sickness;
    const kind = this.random.below(16);
    const mild = kind === 0 ? Outcome.NEUTRAL : kind === 1 ? Outcome.BACKPRESSURE : Outcome.SUCCESS;
    const outcome = isSick ? 1 + <i32>this.random.below(3) : mild;
    const retryAfterMs = outcome === Outcome.BACKPRESSURE ? this.random.below(12) * 2000 : 0;
    const isStale = attempt.generation !== this.backend.record.generation;
    this.verdict = this.backend.finish(attempt.generation, attempt.permitId, outcome, retryAfterMs);
    const nowMs = this.backend.record.clockMs;
    if (retryAfterMs > 0) this.tellings.push(new Telling(nowMs, nowMs + retryAfterMs));
    this.check(!isStale || this.verdict === VERDICT_LATE, "an outcome of another generation is late");
    const isHeld = isPermitLive(this.backend.record, attempt.permitId, 0);
    this.check(!isHeld, "an end frees its permit");
  }

  private probe(): void {
    const record = this.backend.record;
    const owner: u64 = this.random.below(4);
    const wasProbing = record.state === State.HALF_OPEN && record.stage === 0;
    const isOwner = wasProbing && record.probeOwner === owner;
    const kind = this.random.below(4);
    if (kind < 2) {
      if (!this.backend.probe(owner)) return;
      this.verdict = Cause.WAIT_OVER;
      this.probes++;
      if (!wasProbing) this.probesInThisOpening++;
      this.check(record.probeOwner === owner, "the winner owns the probe");
      this.check(!this.backend.probe(owner + 1), "there is one winner");
    } else if (kind === 2) {
      const isHealthy = this.random.below(64) >= this.sickness;
      this.verdict = this.backend.probeOutcome(owner, isHealthy);
      this.check(isOwner || this.verdict === VERDICT_LATE, "only the owner has the word");
    } else if (this.random.below(4) === 0) {
      this.verdict = abandonProbe(record, this.backend.config, this.backend.now, owner);
      this.check(isOwner || this.verdict === VERDICT_LATE, "only the owner gives up");
      if (this.verdict === Cause.PROBE_ABANDONED) this.probesInThisOpening--;
    }
    this.check(this.probesInThisOpening <= 1, "an opening has one probe");
  }

  private slownessOrTrend(): void {
    const kind = this.random.below(400);
    if (kind === 0) this.verdict = this.backend.trend(Cause.LATENCY_DRIFT);
    else if (kind < 4) this.verdict = this.backend.trend(Cause.COST_RATE);
    else {
      const calls = this.random.below(5);
      this.verdict = this.backend.firstTokens(calls, this.random.below(16) < this.sickness ? calls : 0);
    }
  }

  private signOfLifeOrRelease(): void {
    if (this.attempts.length === 0) return;
    const attempt = this.attempts[<i32>this.random.below(<u32>this.attempts.length)];
    if (this.random.below(3) !== 0) {
      this.backend.renew(attempt.permitId);
      return;
    }
    this.backend.release(attempt.permitId);
    this.check(!this.backend.release(attempt.permitId), "a permit is released once");
  }

  private check(holds: bool, rule: string): void {
    if (!holds && this.broken === "") this.broken = rule;
  }
}

describe("whatever a crowd does", () => {
  it("every rule holds after every step", () => {
    for (let seed: u64 = 1; seed <= 4; seed++) {
      const crowd = new Crowd(seed * 88172645463325);
      crowd.run();
      expect(crowd.broken).toBe("");
      expect(crowd.opened).toBeGreaterThan(20);
      expect(crowd.closed).toBeGreaterThan(5);
      expect(crowd.probes).toBeGreaterThan(20);
      expect(crowd.canaries).toBeGreaterThan(50);
      expect(crowd.late).toBeGreaterThan(50);
      expect(crowd.reported).toBeGreaterThan(10);
    }
  });
});
