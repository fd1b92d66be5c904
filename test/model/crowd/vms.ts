import type { RecordCalls, RecordWorker } from "../record/worker.js";
import type { Act, Operation, Orders } from "../reference/operation.js";
import { type Batch, Gathering, steadinessOf } from "./gathering.js";
import { rules } from "./invariants.js";
import type { Observer } from "./observer.js";
import { perform } from "./perform.js";
import { noOrders } from "./picks.js";
import type { WatchedStore } from "./watched-store.js";

/** The VMs of a process's workers: each does one thing at a time, and the observer is told what it has to do. */
export class Vms {
  readonly #workers: readonly RecordWorker[];
  readonly #observer: Observer;
  readonly #store: WatchedStore;
  readonly #nowMs: () => number;
  readonly #orders: Orders[];
  readonly #gathering = new Gathering();
  readonly #busy = new Set<number>();

  constructor(
    workers: readonly RecordWorker[],
    observer: Observer,
    store: WatchedStore,
    nowMs: () => number,
  ) {
    this.#workers = workers;
    this.#observer = observer;
    this.#store = store;
    this.#nowMs = nowMs;
    this.#orders = workers.map(() => noOrders);
  }

  get isAnyBusy(): boolean {
    return this.#busy.size > 0;
  }

  isBusy(worker: number): boolean {
    return this.#busy.has(worker);
  }

  /** The worker that is meant, or the next one that is free; -1: none is. */
  freeWorker(wanted: number): number {
    for (let offset = 0; offset < this.#workers.length; offset++) {
      const index = (wanted + offset) % this.#workers.length;
      if (!this.#busy.has(index)) return index;
    }
    return -1;
  }

  /** What a process does when it gets its policy. */
  createRecord(): void {
    this.#workers[0]?.calls.createRecord();
  }

  order(worker: number, orders: Orders): void {
    this.#orders[worker] = orders;
  }

  /** A VM that has died begins anew, with other draws. */
  restart(worker: number, seed: number): void {
    this.#orders[worker] = noOrders;
    this.#gathering.restart(worker);
    this.#workers[worker]?.calls.restart(seed);
  }

  /** Of the last look, or the last permit. */
  generationOf(worker: number): number {
    return (this.#workers[worker]?.calls.generation() ?? 0) >>> 0;
  }

  /** One call into the record code; other workers may act within. */
  call(worker: number, operation: Operation, nowMs = this.#nowMs()): number {
    const act = this.#actOf(worker, operation, nowMs);
    return this.#during(worker, [act], (calls) => perform(calls, operation, nowMs));
  }

  /** A success without a permit: it is gathered, and what was gathered of another generation is filed before it. */
  noteSuccess(worker: number, generation: number): void {
    const earlier = this.#gathering.begin(worker, generation);
    this.#during(worker, this.#filingOf(worker, earlier, this.#nowMs(), false), (calls) => {
      calls.noteSuccess(generation);
      return 0;
    });
    if (this.#gathering.end(worker)) this.#observer.blame(rules.lost, "a success amid failures is gathered");
  }

  flushSuccesses(worker: number, nowMs = this.#nowMs()): void {
    const batch = this.#gathering.take(worker);
    this.#during(worker, this.#filingOf(worker, batch, nowMs, false), (calls) => {
      calls.flushSuccesses(nowMs);
      return 0;
    });
  }

  /** What a worker reads that notes a success: unless it is told that all is calm, it has to file at once. */
  readSteadiness(): number {
    const hasty = this.#gathering.hasty();
    if (hasty !== undefined) {
      const batch = this.#gathering.take(hasty);
      for (const act of this.#filingOf(hasty, batch, this.#nowMs(), true)) this.#observer.expect(act);
    }
    return this.#gathering.steadiness;
  }

  tellSteadiness(told: number): void {
    this.#gathering.steadiness = told;
  }

  #filingOf(worker: number, batch: Batch, nowMs: number, endsStreak: boolean): Act[] {
    if (batch.calls === 0) return [];
    return [this.#actOf(worker, { kind: "successes", ...batch, endsStreak }, nowMs)];
  }

  #actOf(worker: number, operation: Operation, nowMs: number): Act {
    return { operation, orders: this.#orders[worker] ?? noOrders, nowMs };
  }

  #during(worker: number, acts: readonly Act[], call: (calls: RecordCalls) => number): number {
    const { calls } = this.#workers[worker] as RecordWorker;
    const { mode, rampShare, isHeld } = this.#orders[worker] ?? noOrders;
    calls.orders(mode, rampShare, Number(isHeld));
    this.#busy.add(worker);
    const answer = this.#observer.during(acts, () => call(calls));
    this.#busy.delete(worker);
    this.#compareGauge();
    return answer;
  }

  /** Whoever writes the record tells what it is like then. */
  #compareGauge(): void {
    const { steadiness } = this.#gathering;
    const expected = steadinessOf(this.#observer.read(this.#store));
    if (this.#observer.writes > 0 && steadiness !== expected)
      this.#observer.blame(rules.gauge, `${steadiness}, expected ${expected}`);
  }
}
