import { settings } from "../policy.js";
import { Outcome, Permission, State } from "../record/names.js";
import type { Process, RecordWorker } from "../record/worker.js";
import { drawn } from "../reference/breaker.js";
import type { Operation, Orders } from "../reference/operation.js";
import { liveAt, rules } from "./invariants.js";
import { Observer } from "./observer.js";
import { perform } from "./perform.js";
import { PermitBook } from "./permit-book.js";
import { draws, endOf, noOrders, ordersOf, pausesMs, waitsMs, wordOf } from "./picks.js";
import type { Step, StepKind, Turn } from "./step.js";
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
  readonly #workers: readonly RecordWorker[];
  readonly #permits: PermitBook;
  readonly #orders: Orders[];
  readonly #busy = new Set<number>();
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
    this.#workers = workers;
    this.#orders = workers.map(() => noOrders);
    this.observer = new Observer(store, first.layout, () => this.nowMs, hasModel);
    this.#permits = new PermitBook(this.observer, store);
    store.afterGet = (key) => this.#afterGet(key);
    store.refuses = (key) => key === recordKey && this.#refusals-- > 0;
  }

  /** What a process does when it gets its policy. */
  start(): void {
    for (const [index, { calls }] of this.#workers.entries()) calls.restart(index + 1);
    this.#refusals = 0;
    this.#workers[0]?.calls.createRecord();
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
    orders: (worker, pick) => {
      this.#orders[worker] = ordersOf(pick);
    },
    restart: (worker, pick) => this.#restart(worker, pick),
  };

  #act({ kind, worker, pick }: Step): void {
    const free = this.#freeWorker(worker);
    if (free >= 0) this.#acts[kind](free, pick);
  }

  /** A worker does one thing at a time: the one that is meant, or the next one. */
  #freeWorker(wanted: number): number {
    for (let offset = 0; offset < this.#workers.length; offset++) {
      const index = (wanted + offset) % this.#workers.length;
      if (!this.#busy.has(index)) return index;
    }
    return -1;
  }

  #wait(ms: number): void {
    this.nowMs += this.#busy.size > 0 ? Math.min(ms, longestPauseMs) : ms;
  }

  /** Until a probe is due, or the present one's lease is over. */
  #untilDueMs(): number {
    const { state, openUntilMs, probeLeaseUntilMs } = this.observer.read(this.store);
    return Math.max(0, (state === State.open ? openUntilMs : probeLeaseUntilMs) - this.nowMs);
  }

  /** As the gate does: a look, and a permit where the look draws one. */
  #arrive(worker: number, pick: number): void {
    const seen = this.#call(worker, { kind: "look", random: draws[pick % draws.length] ?? 0 });
    const generation = this.#generationOf(worker);
    const permit = (seen & drawn) === 0 ? 0 : this.#call(worker, { kind: "canary", isIdle: false });
    if (permit !== 0) this.#streams.push(this.#canary(worker, permit));
    else if ((seen & ~drawn) === Permission.permitted) this.#streams.push({ worker, generation, permit });
  }

  #canary(worker: number, permit: number): Stream {
    this.#permits.give(permit, this.#requests, this.nowMs);
    return { worker, generation: this.#generationOf(worker), permit };
  }

  /** Permits of requests and of probes that feed a ramp. */
  get #requests(): number[] {
    const fed = this.#probes.flatMap(({ stream }) => stream ?? []);
    return [...this.#streams, ...fed].map(({ permit }) => permit).filter((permit) => permit !== 0);
  }

  #streamOf(pick: number): Stream | undefined {
    const free = this.#streams.filter(({ worker }) => !this.#busy.has(worker));
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

  #file({ worker, generation, permit }: Stream, outcome: number, retryAfterMs: number): void {
    this.#call(worker, { kind: "outcome", generation, permit, outcome, retryAfterMs });
    if (this.observer.isGivenUp) this.#permits.orphan(permit);
  }

  /** The caller leaves: the gate's end comes before the meter's, and both give the permit back; or no backend has seen the request. */
  #leave(which: number, isSent: boolean): void {
    const stream = this.#streamOf(which);
    if (!stream) return;
    const { worker, permit } = stream;
    this.#streams = this.#streams.filter((each) => each !== stream);
    if (permit !== 0) this.#call(worker, { kind: "release", permit });
    if (permit !== 0 && this.observer.isGivenUp) this.#permits.orphan(permit);
    if (isSent) this.#file(stream, Outcome.neutral, 0);
  }

  /** As the meter's tick and the gate's: canaries that live, a ramp that may close, a probe that is due, a ramp that nobody feeds. */
  #tick(worker: number): void {
    for (const { permit, worker: own } of [...this.#streams]) {
      if (own !== worker || permit === 0) continue;
      this.#permits.renewed(permit, this.nowMs, () => this.#call(worker, { kind: "renew", permit }));
    }
    this.#call(worker, { kind: "close" });
    const owner = ++this.#lastOwner;
    if (this.#call(worker, { kind: "takeProbe", owner }) !== 0) this.#sendProbe(worker, owner);
    const permit = this.#call(worker, { kind: "canary", isIdle: true });
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
    const probe = this.#probes.find(({ worker }) => !this.#busy.has(worker));
    if (probe) this.#answerProbe(probe, pick);
  }

  #answerProbe(probe: Probe, pick: number): void {
    const { worker, owner, stream } = probe;
    const isWell = pick % 4 !== 3;
    this.#probes = this.#probes.filter((each) => each !== probe);
    if (stream) this.#file(stream, isWell ? Outcome.success : Outcome.failure, 0);
    else if (pick % 8 === 7) this.#call(worker, { kind: "abandon", owner });
    else this.#call(worker, { kind: "probeVerdict", owner, isWell });
  }

  #tellFirstTokens(worker: number, pick: number): void {
    const stream = this.#streams.find((each) => each.worker === worker);
    if (!stream) return;
    const calls = 1 + (pick % 4);
    const { generation } = stream;
    this.#call(worker, { kind: "firstTokens", generation, calls, slow: pick % 3 === 0 ? calls : 0 });
  }

  /** The group's word, or an operator's, made for what some worker has told: perhaps not so any more. */
  #hear(worker: number, pick: number): void {
    const { generation, openings } = this.observer.read(this.store);
    const stale = pick % 6 === 5 ? 1 : 0;
    const about = { version: ++this.#lastVersion, generation: generation - stale, isForAll: pick % 3 !== 0 };
    const word = wordOf(pick, openings);
    this.#call(worker, { kind: "word", ...about, ...word });
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
    this.#orders[worker] = noOrders;
    this.#workers[worker]?.calls.restart(pick + 1);
  }

  #generationOf(worker: number): number {
    return (this.#workers[worker]?.calls.generation() ?? 0) >>> 0;
  }

  /** One call into the record code; other workers may act within. */
  #call(worker: number, operation: Operation): number {
    const { calls } = this.#workers[worker] as RecordWorker;
    const orders = this.#orders[worker] ?? noOrders;
    const { nowMs } = this;
    calls.orders(orders.mode, orders.rampShare, Number(orders.isHeld));
    this.#busy.add(worker);
    const act = { operation, orders, nowMs };
    const answer = this.observer.during(act, () => perform(calls, operation, nowMs));
    this.#busy.delete(worker);
    return answer;
  }
}
