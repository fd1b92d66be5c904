import type { Advice, BackendReport, Gateway } from "../../../../extproc/sync/contract.js";
import type { EventQueue } from "./event-queue.js";
import type { SimulatedBackend } from "./simulated-backend.js";
import { SimulatedRecord } from "./simulated-record.js";

export const BACKEND = "gpu";
const TICK_MS = 250;
const WAIT_MS = 5000;
const ADVICE_MS = 30_000;
const IDLE_MS = 20_000;
const STREAK = 5;
const STAGES = [2, 3];
const SUCCESSES = 3;
const PROBE_TIMEOUT_MS = 8000;
const PROBE_LEASE_MS = 10_000;
const NO_COUNTERS = { limited: 0, shed: 0, diverted: 0, success: 0, failure: 0, backpressure: 0, neutral: 0 };
const NO_CALLS = {
  calls: 0,
  failures: 0,
  weightedFailures: 0,
  backpressure: 0,
  outOfMemory: 0,
  firstTokens: 0,
};

export interface EnvoyParts {
  readonly queue: EventQueue;
  readonly random: () => number;
  readonly backend: SimulatedBackend;
  /** Its own clock, of real time. */
  readonly clock: (realMs: number) => number;
  /** To its service and back; undefined while that is away. */
  readonly ask: (gateway: Gateway, report: BackendReport) => { advice: Advice; nextMs: number } | undefined;
  /** What a probe takes; mostly less than half a second unless given. */
  readonly probeMs: number | undefined;
  /** Between requests of callers. */
  readonly pauseMs: number;
}

/** An Envoy process with one backend: callers, ticks, probes, canaries, and a question to the service now and then. */
export class SimulatedEnvoy {
  readonly record = new SimulatedRecord();
  isAlive = true;
  /** The body of its probes can't be rewritten, say. */
  cannotProbe = false;
  private mayProbeUntilMs = 0;
  private rampShare = -1;
  private groupedUntilMs = 0;
  private permits = 0;
  private requests = 0;
  private lastCanaryMs = 0;
  private probes = 0;
  private nextSyncMs: number;
  private toldGeneration = 1;

  constructor(
    readonly name: string,
    readonly process: string,
    private readonly parts: EnvoyParts,
  ) {
    const { queue, random } = parts;
    queue.after(random() * TICK_MS, () => this.tick());
    this.nextSyncMs = queue.now + random() * 1000;
    queue.after(random() * parts.pauseMs, () => this.request());
  }

  /** With all that it has in flight. */
  kill(): void {
    this.isAlive = false;
    this.parts.backend.drop(this);
  }

  /** As the service tells an Envoy what the process before it knew. */
  restore({ record: { state, openings, isEvidence, track } }: SimulatedEnvoy): void {
    if (state === "CLOSED") return;
    Object.assign(this.record, { openings, isEvidence, track, openUntilMs: this.now });
    this.record.enter("OPEN", 0, "RESTORED", this.now);
  }

  private get now(): number {
    return this.parts.clock(this.parts.queue.now);
  }

  private get isGrouped(): boolean {
    return this.now < this.groupedUntilMs;
  }

  /** Each second, or as the service wishes, and soon after a transition. */
  private syncIfDue(): void {
    const { queue, random, ask } = this.parts;
    if (queue.now < this.nextSyncMs && this.record.generation === this.toldGeneration) return;
    this.toldGeneration = this.record.generation;
    this.nextSyncMs = queue.now + 1000;
    const askedAtMs = this.now;
    const report = this.report();
    queue.after(1 + random() * 10, () => {
      const answer = this.isAlive && ask({ process: this.process, node: this.name, policy: "p" }, report);
      if (!answer) return;
      this.nextSyncMs = queue.now + answer.nextMs - 50;
      queue.after(1 + random() * 10, () => this.isAlive && this.heed(answer.advice, askedAtMs));
    });
  }

  private heed({ group, move }: Advice, askedAtMs: number): void {
    if (group) {
      this.groupedUntilMs = this.now + ADVICE_MS;
      this.mayProbeUntilMs = askedAtMs + group.mayProbeMs;
      this.rampShare = group.rampShare;
    }
    if (move) this.record.apply(move, this.now);
  }

  private tick(): void {
    if (!this.isAlive) return;
    this.parts.queue.after(TICK_MS, () => this.tick());
    const { record } = this;
    const isDue =
      (record.state === "OPEN" && this.now >= record.openUntilMs) ||
      (record.state === "HALF_OPEN" && record.stage === 0 && this.now >= record.sinceMs + PROBE_LEASE_MS);
    this.syncIfDue();
    if (record.mode !== "enforce") return;
    if (isDue && !this.cannotProbe && (!this.isGrouped || this.now < this.mayProbeUntilMs)) this.probe();
    if (record.state !== "HALF_OPEN" || record.stage === 0) return;
    if (this.now - Math.max(this.lastCanaryMs, record.sinceMs) >= IDLE_MS) this.canary();
  }

  private probe(): void {
    const { record } = this;
    const { backend, queue, random } = this.parts;
    record.probeOwner = ++this.probes;
    const owner = record.probeOwner;
    record.enter("HALF_OPEN", 0, "WAIT_OVER", this.now);
    const end = backend.beginProbe(this, this.isGrouped);
    const slow = random() < 0.2 ? PROBE_TIMEOUT_MS : 500;
    queue.after(this.parts.probeMs ?? 20 + random() * (slow - 20), () => {
      if (!this.isAlive) return;
      const isWell = end();
      const isOwn = record.state === "HALF_OPEN" && record.stage === 0 && record.probeOwner === owner;
      if (!isOwn) return;
      if (isWell) record.enter("HALF_OPEN", 1, "PROBE_SUCCEEDED", this.now);
      else record.open("PROBE_FAILED", WAIT_MS, this.now);
    });
  }

  private request(): void {
    if (!this.isAlive) return;
    const { queue, random, pauseMs, backend } = this.parts;
    queue.after(pauseMs * (0.5 + random()), () => this.request());
    this.requests++;
    const { record } = this;
    if (record.state === "HALF_OPEN" && record.stage > 0 && random() < 0.5) this.canary();
    if (record.state !== "CLOSED") return;
    const { generation } = record;
    queue.after(20 + random() * 100, () => {
      if (!this.isAlive || record.generation !== generation) return;
      record.streak = backend.isWell(this) ? 0 : record.streak + 1;
      if (record.streak >= STREAK) record.open("CONSECUTIVE_FAILURES", WAIT_MS, this.now);
    });
  }

  private canary(): void {
    const { record } = this;
    const { queue, random, backend } = this.parts;
    const cap = this.isGrouped && this.rampShare >= 0 ? Math.min(this.cap(), this.rampShare) : this.cap();
    if (this.permits >= cap || record.mode !== "enforce") return;
    this.permits++;
    this.lastCanaryMs = this.now;
    const { generation } = record;
    const end = backend.beginCanary(this, this.isGrouped);
    queue.after(50 + random() * (random() < 0.1 ? 12_000 : 1500), () => {
      if (!this.isAlive) return;
      this.permits--;
      const isWell = end();
      if (record.generation !== generation) return;
      if (!isWell) record.open("CANARY_FAILED", WAIT_MS, this.now);
      else if (++record.stageSuccesses >= SUCCESSES) this.pass();
    });
  }

  private pass(): void {
    const { record } = this;
    if (record.stage < STAGES.length) record.enter("HALF_OPEN", record.stage + 1, "STAGE_PASSED", this.now);
    else {
      record.streak = 0;
      record.enter("CLOSED", 0, "RAMP_COMPLETE", this.now);
    }
  }

  private cap(): number {
    return STAGES[Math.max(0, Math.min(STAGES.length, this.record.stage) - 1)] ?? 1;
  }

  private report(): BackendReport {
    const { state, stage, generation, openings, cause, isEvidence, track, mode, sinceMs } = this.record;
    const counters = { ...NO_COUNTERS, permitted: this.requests, refused: 0, late: 0, canaries: 0 };
    return {
      name: BACKEND,
      ...{
        state,
        stage,
        generation,
        openings,
        cause,
        isEvidence,
        track,
        mode,
        policyMode: "enforce" as const,
      },
      stateAgeMs: this.now - sinceMs,
      waitRemainingMs: state === "OPEN" ? Math.max(0, this.record.openUntilMs - this.now) : 0,
      window: { ...NO_CALLS, slowCalls: 0, consecutiveFailures: 0 },
      seconds: [],
      transitions: [],
      livePermits: this.permits,
      stageCap: this.cap(),
      probeLeaseMs: PROBE_LEASE_MS,
      probeTimeoutMs: PROBE_TIMEOUT_MS,
      counters: { ...counters, probes: this.probes, opened: 0 },
    };
  }
}
