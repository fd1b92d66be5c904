import type { BackendView, ChainsView, EntryView, HistoryView, TrendsView } from "../../control/schemas.js";
import { type Api, RefusedError, UnauthorizedError } from "./api.js";
import { EventReader } from "./event-stream.js";
import type { Chain } from "./standing.js";
import { mergeTrends, trendsPath } from "./trend.js";

const BACKENDS_MS = 1000;
const TRENDS_MS = 5000;
const CHAINS_MS = 10_000;
const RETRY_MS = 2000;
/** Without an answer for so long, what is shown may be wrong. */
export const LOST_AFTER_MS = 3500;
const MAX_ENTRIES = 200;
/** The stream has a comment each 15 s. */
const SILENT_MS = 35_000;

/** All that the page shows. */
export interface Snapshot {
  /** Undefined: not told yet. */
  readonly backends: readonly BackendView[] | undefined;
  /** Undefined: not told yet; empty where this service does not tell. */
  readonly chains: readonly Chain[] | undefined;
  readonly trends: TrendsView | undefined;
  /** Oldest first. */
  readonly entries: readonly EntryView[];
  /** By performance.now(), of the last answer about backends. */
  readonly heardMs: number;
  /** Why the last question had no answer; empty when it had. */
  readonly problem: string;
  readonly wantsToken: boolean;
  /** How often the service did not take the token that it was shown, if any. */
  readonly refusals: number;
}

type Listener = (snapshot: Snapshot) => void;

const NOTHING_KNOWN = {
  backends: undefined,
  chains: undefined,
  trends: undefined,
  entries: [],
  problem: "",
  wantsToken: false,
  refusals: 0,
};

/** Asks the service again and again, and tells who listens. One that answers slowly is not asked twice at once. */
export class Store {
  private readonly listeners = new Set<Listener>();
  private readonly wakers = new Set<() => void>();
  private isFollowing = false;
  /** Nothing is asked before somebody gives a token. */
  private isBarred = false;
  private ending: AbortController | undefined;
  snapshot: Snapshot = { ...NOTHING_KNOWN, heardMs: performance.now() };

  constructor(private readonly api: Api) {}

  start(): void {
    void this.repeat(BACKENDS_MS, () => this.askBackends());
    void this.repeat(TRENDS_MS, async () => this.askTrends());
    void this.repeat(CHAINS_MS, () => this.askChains());
    void this.repeat(RETRY_MS, () => this.askEntries());
    void this.repeat(RETRY_MS, () => this.follow());
    document.addEventListener("visibilitychange", () => this.wake());
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Everything is asked at once: a token was given, or an order. */
  wake(): void {
    this.isBarred = false;
    for (const waker of this.wakers) waker();
  }

  /** Nothing of what was told stays on the page. */
  signOut(): void {
    this.api.signOut();
    this.ending?.abort();
    this.change({ ...NOTHING_KNOWN, wantsToken: true });
    this.wake();
  }

  private async repeat(everyMs: number, ask: () => Promise<void>): Promise<never> {
    for (;;) {
      // What another question than that about backends meets, that one meets as well, and tells.
      if (!this.isBarred) await ask().catch(() => {});
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          this.wakers.delete(done);
          resolve();
        };
        const timer = setTimeout(done, everyMs);
        this.wakers.add(done);
      });
    }
  }

  private async askBackends(): Promise<void> {
    try {
      const { backends } = await this.api.get<{ backends: BackendView[] }>("/v1/backends");
      this.change({ backends, heardMs: performance.now(), problem: "", wantsToken: false });
    } catch (cause) {
      if (cause instanceof UnauthorizedError) this.bar();
      else this.change({ problem: explain(cause) });
    }
  }

  private bar(): void {
    this.isBarred = true;
    this.change({ wantsToken: true, refusals: this.snapshot.refusals + (this.api.hasToken ? 1 : 0) });
  }

  private async askChains(): Promise<void> {
    try {
      const told = await this.optional<ChainsView>("/v1/chains");
      this.change({ chains: told?.chains ?? [] });
    } catch {
      if (this.snapshot.chains === undefined) this.change({ chains: [] });
    }
  }

  private async askTrends(): Promise<void> {
    const known = this.snapshot.trends;
    const told = await this.optional<TrendsView>(trendsPath(known));
    this.change({ trends: told && mergeTrends(known, told) });
  }

  /** Undefined where this service does not have it. */
  private async optional<T>(path: string): Promise<T | undefined> {
    try {
      return await this.api.get<T>(path);
    } catch (cause) {
      if (cause instanceof RefusedError && cause.status === 404) return undefined;
      throw cause;
    }
  }

  /** The way that always works; the stream is only faster. */
  private async askEntries(): Promise<void> {
    if (this.isFollowing) return;
    const lastId = this.snapshot.entries.at(-1)?.id;
    const from = lastId === undefined ? "limit=100" : `after=${lastId}&limit=${MAX_ENTRIES}`;
    this.add((await this.api.get<HistoryView>(`/v1/transitions?${from}`)).entries);
  }

  /** Only while somebody looks: a browser has few connections to one service, for all its tabs together. */
  private async follow(): Promise<void> {
    if (document.hidden || this.snapshot.wantsToken || this.snapshot.backends === undefined) return;
    const ending = new AbortController();
    this.ending = ending;
    const onHidden = () => ending.abort();
    document.addEventListener("visibilitychange", onHidden, { once: true });
    const reader = new EventReader();
    let watchdog = setTimeout(onHidden, SILENT_MS);
    try {
      const stream = this.api.stream("/v1/events", this.snapshot.entries.at(-1)?.id ?? 0, ending.signal);
      for await (const piece of stream) {
        this.isFollowing = true;
        clearTimeout(watchdog);
        watchdog = setTimeout(onHidden, SILENT_MS);
        this.add(reader.push(piece).map(({ data }) => JSON.parse(data) as EntryView));
      }
    } finally {
      this.isFollowing = false;
      clearTimeout(watchdog);
      ending.abort();
      document.removeEventListener("visibilitychange", onHidden);
    }
  }

  /** A service that was restarted counts from 1 again: the same id at another time is another entry. */
  private add(told: readonly EntryView[]): void {
    const known = new Set(this.snapshot.entries.map(keyOf));
    const fresh = told.filter((entry) => !known.has(keyOf(entry)));
    if (fresh.length > 0) this.change({ entries: [...this.snapshot.entries, ...fresh].slice(-MAX_ENTRIES) });
  }

  private change(part: Partial<Snapshot>): void {
    this.snapshot = { ...this.snapshot, ...part };
    for (const listener of this.listeners) listener(this.snapshot);
  }
}

export function keyOf({ id, at }: EntryView): string {
  return `${id} ${at}`;
}

function explain(cause: unknown): string {
  if (cause instanceof RefusedError) return cause.message;
  if (cause instanceof DOMException && cause.name === "TimeoutError") return "it does not answer";
  return "it can't be reached";
}
