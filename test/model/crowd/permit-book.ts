import { settings } from "../policy.js";
import { liveAt, rules } from "./invariants.js";
import type { Observer } from "./observer.js";
import type { WatchedStore } from "./watched-store.js";

/** Keeps the accounts of all permits from the outside: who has which, until when, and whether the record agrees. */
export class PermitBook {
  readonly #observer: Observer;
  readonly #store: WatchedStore;
  /** Of every permit ever given, until when it may be held. */
  readonly #deadlines = new Map<number, number>();
  /** Permits that nobody will give back: a VM died with them, or their end was given up. */
  readonly #orphans = new Set<number>();

  constructor(observer: Observer, store: WatchedStore) {
    this.#observer = observer;
    this.#store = store;
  }

  /** A permit is one request's, nobody else has ever had it, and with it there are not too many at the backend. */
  give(permit: number, running: readonly number[], nowMs: number): void {
    if (this.#deadlines.has(permit)) this.#observer.blame(rules.permits, `${permit} was given twice`);
    const { stage, clockMs } = this.#observer.read(this.#store);
    const cap = settings.stages[stage - 1]?.maxConcurrent ?? 0;
    const atOnce = running.filter((each) => this.#mayBeHeld(each, nowMs)).length + 1;
    if (atOnce > cap) this.#observer.blame(rules.cap, `${atOnce} canaries at once of ${cap}`);
    const deadlineMs = clockMs + settings.permitTimeoutMs;
    if (this.#deadlineOf(permit) !== deadlineMs)
      this.#observer.blame(rules.permits, `${permit} was given and is not held until ${deadlineMs}`);
    this.#deadlines.set(permit, deadlineMs);
  }

  /** Runs `renew`, after which a permit that lived has its whole time again. */
  renewed(permit: number, nowMs: number, renew: () => void): void {
    const wasAlive = this.#deadlineOf(permit) > nowMs;
    renew();
    const deadlineMs = this.#deadlineOf(permit);
    if (wasAlive && !this.#observer.isGivenUp && deadlineMs < nowMs + settings.permitTimeoutMs)
      this.#observer.blame(rules.permits, `${permit} was not renewed`);
    this.#deadlines.set(permit, deadlineMs);
  }

  orphan(permit: number): void {
    this.#orphans.add(permit);
  }

  /** The record holds the permits of requests, and of those that died; never one more or less. */
  compare(requests: readonly number[], nowMs: number): void {
    const live = liveAt(this.#observer.read(this.#store), nowMs).map(({ id }) => id);
    const overdue = live.find((id) => !this.#mayBeHeld(id, nowMs));
    if (overdue !== undefined) this.#observer.blame(rules.permits, `${overdue} is held beyond its time`);
    const kept = live.find((id) => !requests.includes(id) && !this.#orphans.has(id));
    if (kept !== undefined) this.#observer.blame(rules.permits, `${kept} was not given back`);
    const lost = requests.find((id) => this.#mayBeHeld(id, nowMs) && !live.includes(id));
    if (lost !== undefined) this.#observer.blame(rules.permits, `${lost} was lost while its request ran`);
  }

  #mayBeHeld(permit: number, nowMs: number): boolean {
    return (this.#deadlines.get(permit) ?? 0) > nowMs;
  }

  /** As the record has it; 0: it is not held. */
  #deadlineOf(permit: number): number {
    const { permits } = this.#observer.read(this.#store);
    return permits.find(({ id }) => id === permit)?.deadlineMs ?? 0;
  }
}
