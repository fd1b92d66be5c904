import { settings } from "../policy.js";
import { Outcome, Permission, State } from "../record/names.js";
import type { Process, RecordWorker } from "../record/worker.js";
import { drawn } from "../reference/breaker.js";
import { liveAt, rules } from "./invariants.js";
import { Observer } from "./observer.js";
import { PermitBook } from "./permit-book.js";
import { draws, endOf, ordersOf, pausesMs, waitsMs, wordOf } from "./picks.js";
import type { Step, StepKind, Turn } from "./step.js";
import { Vms } from "./vms.js";
import { recordKey, WatchedStore } from "./watched-store.js";

const startMs = 1_000_000;
/** Most that a worker waits between its look at the clock and its write: four such, and it is late by less than a step of the clock. */
const longestPauseMs = 2_000;

/** A request at the backend. */
interface Stream {
  readonly worker: number;
  readonly generation: number;
  readonly permit: number;
}

/** A probe on its way. */
interface Probe {
  readonly worker: number;
  /** 0: it feeds an idle ramp, with a permit. */
  readonly owner: number;
  readonly stream: Stream | undefined;
  readonly leaseUntilMs: number;
  /** What its lease made of the record. */
  readonly generation: number;
}

export interface CrowdOptions {
  readonly store?: WatchedStore;
  readonly hasModel?: boolean;
}

/** The workers of one process, their requests and their probes, with one store and one clock; what they do is told to an observer. */
export class Crowd implements Process {
  readonly store: WatchedStore;
  readonly observer: Observer;
  nowMs = startMs;
  readonly #vms: Vms;
  readonly #count: number;
  readonly #permits: PermitBook;
  #streams: Stream[] = [];
  #probes: Probe[] = [];
  /** That of the last transition by a word from outside: a probe from before it is overruled. */
  #overruledUntil = 0;
  #within: Step[] = [];
  #refusals = 0;
  #lastOwner = 0;
  #lastVersion = 0;

  constructor(workers: readonly RecordWorker[], { store = new WatchedStore(), hasModel }: CrowdOptions = {}) {
    const [first] = workers;
    if (!first) throw new Error("no workers");
    this.store = store;
    this.observer = new Observer(store, first.layout, () => this.nowMs, hasModel);
    this.#count = workers.length;
    this.#vms = new Vms(workers, this.observer, store, () => this.nowMs);
    this.#permits = new PermitBook(this.observer, store);
    store.afterGet = (key) => this.#afterGet(key);
    store.refuses = (key) => key === recordKey && this.#refusals-- > 0;
  }

  /** What a process does when it gets its policy. */
  start(): void {
    for (let worker = 0; worker < this.#count; worker++) this.#vms.restart(worker, worker + 1);
    this.#refusals = 0;
    this.#vms.createRecord();
  }

  run({ step, within, refusals }: Turn): void {
    this.#within = [...within];
    this.#refusals = refusals;
    this.#act(step);
    this.#within = [];
    this.#refusals = 0;
    this.#permits.compare(this.#requests, this.nowMs);
  }

  /** All requests end, and what nobody gives back dies: then nothing is held. */
  rest(): void {
    for (const stream of [...this.#streams]) this.#end(stream, Outcome.success, 0);
    for (const probe of [...this.#probes]) this.#answerProbe(probe, 0);
    for (let worker = 0; worker < this.#count; worker++) this.#vms.flushSuccesses(worker);
    this.#permits.compare([], this.nowMs);
    this.nowMs += settings.permitTimeoutMs;
    const held = liveAt(this.observer.read(this.store), this.nowMs);
    if (held.length > 0) this.observer.blame(rules.permits, `${held.length} are held at rest`);
  }

  /** The moment between a worker's read and its write. */
  #afterGet(key: string): void {
    if (key !== recordKey) return;
    this.observer.onRead();
    const next = this.#within.shift();
    if (!next) return;
    this.nowMs += pausesMs[next.pick % pausesMs.length] ?? 0;
    this.#act(next);
  }

  readonly #acts: Readonly<Record<StepKind, (worker: number, pick: number) => void>> = {
    arrive: (worker, pick) => this.#arrive(worker, pick),
    succeed: (worker, pick) => this.#endOne("succeed", worker + pick, pick),
    fail: (worker, pick) => this.#endOne("fail", worker + pick, pick),
    mild: (worker, pick) => this.#endOne("mild", worker + pick, pick),
    leave: (worker, pick) => this.#leave(worker + pick, pick % 2 === 0),
    tick: (worker) => this.#tick(worker),
    answerProbe: (_, pick) => this.#answerOne(pick),
    firstTokens: (worker, pick) => this.#tellFirstTokens(worker, pick),
    wait: (_, pick) => this.#wait(waitsMs[pick] ?? this.#untilDueMs()),
    word: (worker, pick) => this.#hear(worker, pick),
    orders: (worker, pick) => this.#vms.order(worker, ordersOf(pick)),
    restart: (worker, pick) => this.#restart(worker, pick),
  };

  #act({ kind, worker, pick }: Step): void {
    const free = this.#vms.freeWorker(worker);
    if (free >= 0) this.#acts[kind](free, pick);
  }

  #wait(ms: number): void {
    this.nowMs += this.#vms.isAnyBusy ? Math.min(ms, longestPauseMs) : ms;
  }

  /** Until a probe is due, or the present one's lease is over. */
  #untilDueMs(): number {
    const { state, openUntilMs, probeLeaseUntilMs } = this.observer.read(this.store);
    return Math.max(0, (state === State.open ? openUntilMs : probeLeaseUntilMs) - this.nowMs);
  }

  /** As the gate does: a look, and a permit where the look draws one. */
  #arrive(worker: number, pick: number): void {
    const seen = this.#vms.call(worker, { kind: "look", random: draws[pick % draws.length] ?? 0 });
    const generation = this.#vms.generationOf(worker);
    const permit = (seen & drawn) === 0 ? 0 : this.#vms.call(worker, { kind: "canary", isIdle: false });
    if (permit !== 0) this.#streams.push(this.#canary(worker, permit));
    else if ((seen & ~drawn) === Permission.permitted) this.#streams.push({ worker, generation, permit });
  }

  #canary(worker: number, permit: number): Stream {
    this.#permits.give(permit, this.#requests, this.nowMs);
    return { worker, generation: this.#vms.generationOf(worker), permit };
  }

  /** Permits of requests and of probes that feed a ramp. */
  get #requests(): number[] {
    const fed = this.#probes.flatMap(({ stream }) => stream ?? []);
    return [...this.#streams, ...fed].map(({ permit }) => permit).filter((permit) => permit !== 0);
  }

  #streamOf(pick: number): Stream | undefined {
    const free = this.#streams.filter(({ worker }) => !this.#vms.isBusy(worker));
    return free[pick % free.length];
  }

  #endOne(kind: "succeed" | "fail" | "mild", which: number, pick: number): void {
    const stream = this.#streamOf(which);
    if (stream) this.#end(stream, ...endOf(kind, pick));
  }

  #end(stream: Stream, outcome: number, retryAfterMs: number): void {
    this.#streams = this.#streams.filter((each) => each !== stream);
    this.#file(stream, outcome, retryAfterMs);
  }

  /** As the meter does: what goes well may wait, and all else comes after it. */
  #file(stream: Stream, outcome: number, retryAfterMs: number): void {
    const { nowMs } = this;
    if (outcome === Outcome.success && stream.permit === 0)
      return void this.#vms.noteSuccess(stream.worker, stream.generation);
    if (outcome !== Outcome.neutral) this.#vms.flushSuccesses(stream.worker, nowMs);
    this.#fileAlone(stream, outcome, retryAfterMs, nowMs);
  }

  #fileAlone(stream: Stream, outcome: number, retryAfterMs: number, nowMs = this.nowMs): void {
    const { worker, generation, permit } = stream;
    this.#vms.call(worker, { kind: "outcome", generation, permit, outcome, retryAfterMs }, nowMs);
    if (this.observer.isGivenUp) this.#permits.orphan(permit);
  }

  /** The caller leaves: the gate's end comes before the meter's, and both give the permit back; or no backend has seen the request. */
  #leave(which: number, isSent: boolean): void {
    const stream = this.#streamOf(which);
    if (!stream) return;
    const { worker, permit } = stream;
    this.#streams = this.#streams.filter((each) => each !== stream);
    if (permit !== 0) this.#vms.call(worker, { kind: "release", permit });
    if (permit !== 0 && this.observer.isGivenUp) this.#permits.orphan(permit);
    if (isSent) this.#file(stream, Outcome.neutral, 0);
  }

  /** As the meter's tick and the gate's: canaries that live, a ramp that may close, a probe that is due, a ramp that nobody feeds. */
  #tick(worker: number): void {
    for (const { permit, worker: own } of [...this.#streams]) {
      if (own !== worker || permit === 0) continue;
      this.#permits.renewed(permit, this.nowMs, () => this.#vms.call(worker, { kind: "renew", permit }));
    }
    this.#vms.flushSuccesses(worker);
    this.#vms.call(worker, { kind: "close" });
    const owner = ++this.#lastOwner;
    if (this.#vms.call(worker, { kind: "takeProbe", owner }) !== 0) this.#sendProbe(worker, owner);
    const permit = this.#vms.call(worker, { kind: "canary", isIdle: true });
    if (permit === 0) return;
    const stream = this.#canary(worker, permit);
    this.#probes.push({ worker, owner: 0, stream, leaseUntilMs: 0, generation: stream.generation });
  }

  /** A probe whose lease is not over is alone, unless a word from outside has begun another opening. */
  #sendProbe(worker: number, owner: number): void {
    const { clockMs: sinceMs, generation } = this.observer.read(this.store);
    const others = this.#probes.filter((probe) => probe.owner !== 0 && probe.leaseUntilMs > sinceMs);
    const rivals = others.filter((probe) => probe.generation >= this.#overruledUntil);
    if (rivals.length > 0) this.observer.blame(rules.oneProbe, `${rivals.length + 1} at once`);
    const leaseUntilMs = sinceMs + settings.probeLeaseMs;
    this.#probes.push({ worker, owner, stream: undefined, leaseUntilMs, generation });
  }

  #answerOne(pick: number): void {
    const probe = this.#probes.find(({ worker }) => !this.#vms.isBusy(worker));
    if (probe) this.#answerProbe(probe, pick);
  }

  #answerProbe(probe: Probe, pick: number): void {
    const { worker, owner, stream } = probe;
    const isWell = pick % 4 !== 3;
    this.#probes = this.#probes.filter((each) => each !== probe);
    if (stream) this.#fileAlone(stream, isWell ? Outcome.success : Outcome.failure, 0);
    else if (pick % 8 === 7) this.#vms.call(worker, { kind: "abandon", owner });
    else this.#vms.call(worker, { kind: "probeVerdict", owner, isWell });
  }

  #tellFirstTokens(worker: number, pick: number): void {
    const stream = this.#streams.find((each) => each.worker === worker);
    if (!stream) return;
    const calls = 1 + (pick % 4);
    const { generation } = stream;
    this.#vms.call(worker, { kind: "firstTokens", generation, calls, slow: pick % 3 === 0 ? calls : 0 });
  }

  /** The group's word, or an operator's, made for what some worker has told: perhaps not so any more. */
  #hear(worker: number, pick: number): void {
    const { generation, openings } = this.observer.read(this.store);
    const stale = pick % 6 === 5 ? 1 : 0;
    const about = { version: ++this.#lastVersion, generation: generation - stale, isForAll: pick % 3 !== 0 };
    const word = wordOf(pick, openings);
    this.#vms.call(worker, { kind: "word", ...about, ...word });
    const present = this.observer.read(this.store);
    if (present.lastCause === word.cause) this.#overruledUntil = present.generation;
  }

  /** A VM dies with all that it had under way: what it held comes back by time alone. */
  #restart(worker: number, pick: number): void {
    const isDead = (each: { readonly worker: number }): boolean => each.worker === worker;
    const fed = this.#probes.filter(isDead).flatMap(({ stream }) => stream ?? []);
    for (const { permit } of [...this.#streams.filter(isDead), ...fed]) this.#permits.orphan(permit);
    this.#streams = this.#streams.filter((each) => !isDead(each));
    this.#probes = this.#probes.filter((each) => !isDead(each));
    this.#vms.restart(worker, pick + 1);
  }

  /** A worker notes a success, and reads the gauge. */
  readSteadiness(): number {
    return this.#vms.readSteadiness();
  }

  tellSteadiness(told: number): void {
    this.#vms.tellSteadiness(told);
  }
}
