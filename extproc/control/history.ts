import type { Gateway, Mode, Transition } from "../sync/contract.js";
import type { GatewayTransition } from "../sync/gateways.js";

/** In all; the oldest go. */
export const HISTORY_SIZE = 1000;
/** A reset's transition comes no later. */
const RESET_MS = 60_000;

/** What an operator said about a backend, or what became of it. */
export interface OperatorWord {
  readonly action: "open" | "close" | "disable" | "reset" | "withdraw" | "learned" | "ended";
  readonly who: string;
  readonly why: string;
  readonly mode?: Mode;
  readonly forMs?: number;
}

interface Common {
  /** Grows by one with each entry, from 1 when the service started. */
  readonly id: number;
  /** Milliseconds since the epoch, by this service's clock. */
  readonly atMs: number;
  readonly backend: string;
}

export interface TransitionEntry extends Common {
  readonly gateway: Gateway;
  readonly transition: Transition;
  /** The reset that it follows from. */
  readonly word?: OperatorWord;
}

export interface WordEntry extends Common {
  readonly transition?: undefined;
  readonly word: OperatorWord;
}

export type HistoryEntry = TransitionEntry | WordEntry;

/** What happened lately, in the order in which it became known. */
export class History {
  private readonly entries: HistoryEntry[] = [];
  private readonly listeners = new Set<(entry: HistoryEntry) => void>();
  private lastId = 0;

  constructor(private readonly wallNow: () => number = Date.now) {}

  /** Oldest first. `after` is the id of the last one that is known already; one of a service before this counts as none. */
  list(after = 0): readonly HistoryEntry[] {
    const first = this.entries[0]?.id ?? 1;
    return this.entries.slice(after > this.lastId ? 0 : Math.max(0, after + 1 - first));
  }

  /** Called with each entry as it comes; the answer ends it. */
  subscribe(listener: (entry: HistoryEntry) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  addTransition({ gateway, backend, transition, atMs }: GatewayTransition): void {
    const word = transition.cause === "OPERATOR_RESET" ? this.lastReset(backend, atMs) : undefined;
    this.add({ id: ++this.lastId, atMs, backend, gateway, transition, ...(word && { word }) });
  }

  addWord(backend: string, word: OperatorWord): void {
    this.add({ id: ++this.lastId, atMs: this.wallNow(), backend, word });
  }

  private add(entry: HistoryEntry): void {
    this.entries.push(entry);
    if (this.entries.length > HISTORY_SIZE) this.entries.shift();
    for (const listener of this.listeners) listener(entry);
  }

  private lastReset(backend: string, atMs: number): OperatorWord | undefined {
    return this.entries.findLast(
      (entry) =>
        entry.backend === backend &&
        entry.transition === undefined &&
        entry.word.action === "reset" &&
        Math.abs(atMs - entry.atMs) < RESET_MS,
    )?.word;
  }
}
