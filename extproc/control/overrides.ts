import type {
  Advice,
  Advisor,
  BackendReport,
  Gateway,
  Mode,
  Override,
  SharedOverride,
} from "../sync/contract.js";
import { clean } from "./words.js";

/** Words that hold or were taken back, at most; more backends than a gateway may report have none. */
export const MAX_OVERRIDES = 512;
export const MAX_WHO_LENGTH = 64;
export const MAX_WHY_LENGTH = 200;
const MAX_NAME_LENGTH = 63;
export const MAX_DURATION_MS = 7 * 86_400_000;
/** A word that was taken back is told for so long at least: gateways that were away must hear of it. */
const LEAST_TELLING_MS = 60_000;
/** Gateways that have a change to hear of are asked to come sooner for so long. */
const BUSY_MS = 2_500;

/**
 * A version that is further ahead of our clock is a mistake, or a lie: no word of an operator's could outbid the highest
 * number. Since the bound moves on with time, any version below it can be.
 */
const MAX_AHEAD_MS = 10 * 365 * 86_400_000;

/** An operator's word on one backend. */
export interface Word {
  readonly backend: string;
  readonly mode: Mode;
  readonly who: string;
  readonly why: string;
  readonly version: number;
  readonly isWithdrawn: boolean;
  /** The gateway that told it, or another service; either would tell it again. Undefined: it was said here. */
  readonly from?: string | undefined;
  /** By this process's monotonic clock. */
  readonly untilMs: number;
}

/** What happened to a word: `learned` is one that a gateway, or another service, knew of. */
export type WordChange = "set" | "withdrawn" | "ended" | "learned";

export type WordListener = (change: WordChange, word: Word) => void;

interface Clocks {
  /** Monotonic milliseconds: words end by it. */
  readonly now: () => number;
  /** Milliseconds since the epoch: a service that has forgotten all still gives a higher version than it did before. */
  readonly wallNow: () => number;
}

/** No room for one more word. */
export class TooManyOverridesError extends Error {
  override readonly name = "TooManyOverridesError";
}

/**
 * The operators' words, one for each backend, the one with the highest version. Each holds on every gateway, ends by itself, and
 * outlives this process: Envoy keeps it, tells it in every report, and so gives it to a service that has just started. One that
 * was taken back stays known as such for as long as it would have held, or an older copy would come to life again.
 */
export class Overrides implements Advisor {
  private readonly words = new Map<string, Word>();
  private readonly listeners = new Set<WordListener>();
  private busyUntilMs = 0;

  constructor(
    private readonly clocks: Clocks = { now: () => performance.now(), wallNow: () => Date.now() },
  ) {}

  get isBusy(): boolean {
    return this.clocks.now() < this.busyUntilMs;
  }

  /** @throws TooManyOverridesError when there is no room for a word on one more backend. */
  set(backend: string, mode: Mode, forMs: number, who: string, why: string): Word {
    this.expire();
    if (!this.words.has(backend) && this.words.size >= MAX_OVERRIDES && !this.dropLearned()) {
      throw new TooManyOverridesError(`there are ${MAX_OVERRIDES} overrides already, withdraw one first`);
    }
    const untilMs = this.clocks.now() + Math.min(Math.max(forMs, 0), MAX_DURATION_MS);
    const word = { backend, mode, who, why, untilMs, version: this.nextVersion(backend), isWithdrawn: false };
    this.put("set", word);
    return word;
  }

  /** The word that was taken back; undefined when none holds. */
  withdraw(backend: string, who: string, why: string): Word | undefined {
    const held = this.find(backend);
    if (held === undefined) return undefined;
    const untilMs = Math.max(held.untilMs, this.clocks.now() + LEAST_TELLING_MS);
    const version = this.nextVersion(backend);
    const word = { ...held, who, why, untilMs, version, isWithdrawn: true, from: undefined };
    this.put("withdrawn", word);
    return word;
  }

  /** The word that holds on a backend. */
  find(backend: string): Word | undefined {
    const word = this.words.get(backend);
    return word === undefined || word.isWithdrawn || word.untilMs <= this.clocks.now() ? undefined : word;
  }

  /** All that hold, by backend. */
  list(): Word[] {
    this.expire();
    return [...this.words.values()]
      .filter(({ isWithdrawn }) => !isWithdrawn)
      .sort((a, b) => (a.backend < b.backend ? -1 : 1));
  }

  /** Milliseconds left of a word. */
  remainingMs(word: Word): number {
    return Math.max(0, Math.round(word.untilMs - this.clocks.now()));
  }

  onChange(listener: WordListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  observe({ node, process }: Gateway, reports: readonly BackendReport[]): void {
    this.expire();
    for (const { name, override } of reports)
      if (override !== undefined) this.learn(name, override, node || process);
  }

  advise(_gateway: Gateway, { name }: BackendReport): Advice {
    const word = this.words.get(name);
    const now = this.clocks.now();
    return word === undefined || word.untilMs <= now ? {} : { override: this.tell(word) };
  }

  /** What other services are told, words that were taken back among them. */
  snapshot(): SharedOverride[] {
    this.expire();
    return [...this.words.values()].map((word) => ({ backend: word.backend, ...this.tell(word) }));
  }

  /** What another service told. */
  merge(words: readonly SharedOverride[]): void {
    this.expire();
    for (const { backend, ...override } of words) this.learn(backend, override, "another service");
  }

  /** Lets go of what is over. Called with each exchange, so that an end is told soon after it came. */
  expire(): void {
    const now = this.clocks.now();
    for (const [backend, word] of this.words) {
      if (word.untilMs > now) continue;
      this.words.delete(backend);
      if (!word.isWithdrawn) this.tellListeners("ended", word);
    }
  }

  /** Bytes from elsewhere: bounded and cleaned like what the API takes. */
  private learn(backend: string, told: Override, from: string): void {
    if (!isUsable(backend, told) || told.version > this.clocks.wallNow() + MAX_AHEAD_MS) return;
    const known = this.words.get(backend);
    if (known !== undefined && known.version >= told.version) return;
    if (known === undefined && this.words.size >= MAX_OVERRIDES) return;
    const { mode, version, isWithdrawn } = told;
    this.put("learned", {
      backend,
      mode,
      version,
      isWithdrawn,
      from,
      who: clean(told.who, MAX_WHO_LENGTH),
      why: clean(told.why, MAX_WHY_LENGTH),
      untilMs: this.clocks.now() + Math.min(told.remainingMs, MAX_DURATION_MS),
    });
  }

  /** Gateways go on by what is dropped; an operator who is here must not be kept out by what others told. */
  private dropLearned(): boolean {
    for (const [backend, { from }] of this.words) if (from !== undefined) return this.words.delete(backend);
    return false;
  }

  private put(change: WordChange, word: Word): void {
    this.words.set(word.backend, word);
    this.busyUntilMs = this.clocks.now() + BUSY_MS;
    this.tellListeners(change, word);
  }

  private tellListeners(change: WordChange, word: Word): void {
    for (const listener of this.listeners) listener(change, word);
  }

  private tell(word: Word): Override {
    const { mode, version, isWithdrawn, who, why } = word;
    return { mode, version, isWithdrawn, who, why, remainingMs: this.remainingMs(word) };
  }

  /** Above what is known, and above what this process gave before it was restarted. */
  private nextVersion(backend: string): number {
    return Math.max((this.words.get(backend)?.version ?? 0) + 1, Math.floor(this.clocks.wallNow()));
  }
}

function isUsable(backend: string, { version, remainingMs }: Override): boolean {
  return backend.length > 0 && backend.length <= MAX_NAME_LENGTH && version > 0 && remainingMs > 0;
}
