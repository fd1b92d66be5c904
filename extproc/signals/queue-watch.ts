import type { Logger } from "pino";
import { scrape } from "./scrape.js";
import type { SignalsSettings } from "./settings.js";
import { readWaitingRequests } from "./waiting-requests.js";

/** Older readings tell nothing. */
const STALE_AFTER_MS = 5_000;

interface Watched {
  readonly name: string;
  readonly metrics: string;
  readonly longQueue: number;
  /** Undefined: unknown. */
  waiting: number | undefined;
  readAtMs: number;
  isAsked: boolean;
  /** The last reading failed; told once each time it begins. */
  isSilent: boolean;
}

/** Asks the engines how many requests wait. Nothing waits for a reading, and a page that hangs is not asked twice. */
export class QueueWatch {
  private readonly watched: readonly Watched[];
  private readonly timer: NodeJS.Timeout | undefined;

  constructor(
    settings: SignalsSettings,
    private readonly log: Logger,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.watched = Object.entries(settings.backends).map(([name, backend]) => ({
      name,
      ...backend,
      waiting: undefined,
      readAtMs: 0,
      isAsked: false,
      isSilent: false,
    }));
    if (this.watched.length === 0) return;
    this.timer = setInterval(() => this.ask(), settings.period).unref();
    this.ask();
  }

  /** Backends at which so many requests wait that their degrade rules hold. */
  longQueues(): string[] {
    const oldest = this.now() - STALE_AFTER_MS;
    return this.watched
      .filter(({ waiting, longQueue, readAtMs }) => readAtMs >= oldest && (waiting ?? 0) >= longQueue)
      .map(({ name }) => name);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private ask(): void {
    for (const backend of this.watched) if (!backend.isAsked) void this.read(backend);
  }

  private async read(backend: Watched): Promise<void> {
    backend.isAsked = true;
    try {
      const waiting = readWaitingRequests(await scrape(backend.metrics));
      if (waiting === undefined) throw new Error("tells no queue that we know");
      Object.assign(backend, { waiting, readAtMs: this.now(), isSilent: false });
    } catch (cause) {
      if (!backend.isSilent) {
        this.log.warn({ backend: backend.name, err: cause }, "metrics can't be read, the queue is unknown");
      }
      backend.isSilent = true;
    }
    backend.isAsked = false;
  }
}
