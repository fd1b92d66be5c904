import type { History, HistoryEntry } from "./history.js";
import { viewEntry } from "./views.js";

/** Each holds a connection. */
const MAX_READERS = 32;
/** Events in a reader's own queue; what else waits for it is in the history. */
const MAX_QUEUED = 64;
const HEARTBEAT_MS = 15_000;

const encoder = new TextEncoder();

/** Somebody who listens, and how far he has come. */
interface Reader {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** The last entry that he was sent. */
  lastId: number;
  /** Where he stood at the last heartbeat, with no room for it. */
  stuckAt: number | undefined;
}

/**
 * The history as server-sent events, to whoever listens. However many come at once, a reader gets all of them; one that falls behind
 * what the history holds is dropped, and may come back with Last-Event-ID.
 */
export class EventFeed {
  private readonly readers = new Set<Reader>();
  private readonly unsubscribe: () => void;
  private readonly heartbeat: NodeJS.Timeout;

  constructor(private readonly history: History) {
    this.unsubscribe = history.subscribe(() => {
      for (const reader of this.readers) this.send(reader);
    });
    this.heartbeat = setInterval(() => this.beat(), HEARTBEAT_MS).unref();
  }

  /** What one reader gets, from now on or from behind the entry `after`; undefined when there are too many already. */
  open(after?: number): ReadableStream<Uint8Array> | undefined {
    if (this.readers.size >= MAX_READERS) return undefined;
    let own: Reader;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          own = { controller, lastId: this.placeOf(after), stuckAt: undefined };
          this.readers.add(own);
          controller.enqueue(encoder.encode("retry: 2000\n\n"));
          this.send(own);
        },
        pull: () => this.send(own),
        cancel: () => {
          this.readers.delete(own);
        },
      },
      new CountQueuingStrategy({ highWaterMark: MAX_QUEUED }),
    );
  }

  get size(): number {
    return this.readers.size;
  }

  /** Ends all readers' streams. */
  close(): void {
    this.unsubscribe();
    clearInterval(this.heartbeat);
    for (const { controller } of this.readers) controller.close();
    this.readers.clear();
  }

  /** The entry before the first that a new reader gets. */
  private placeOf(after: number | undefined): number {
    const [next] = after === undefined ? [] : this.history.list(after);
    return next === undefined ? (this.history.list().at(-1)?.id ?? 0) : next.id - 1;
  }

  /** As much of what he has not seen as he has room for. */
  private send(reader: Reader): void {
    const { controller } = reader;
    if (!this.readers.has(reader) || !hasRoom(controller)) return;
    for (const entry of this.history.list(reader.lastId)) {
      const isMissed = entry.id !== reader.lastId + 1;
      if (isMissed) this.drop(reader);
      if (isMissed || !hasRoom(controller)) return;
      reader.lastId = entry.id;
      controller.enqueue(encoder.encode(write(entry)));
    }
  }

  /** One that has read nothing since the last beat reads no more. */
  private beat(): void {
    for (const reader of this.readers) {
      const { controller, lastId } = reader;
      if (hasRoom(controller)) {
        reader.stuckAt = undefined;
        controller.enqueue(encoder.encode(": alive\n\n"));
      } else if (reader.stuckAt === lastId) this.drop(reader);
      else reader.stuckAt = lastId;
    }
  }

  private drop(reader: Reader): void {
    this.readers.delete(reader);
    reader.controller.error(new Error("the reader is too slow"));
  }
}

function hasRoom({ desiredSize }: ReadableStreamDefaultController<Uint8Array>): boolean {
  return (desiredSize ?? 0) > 0;
}

function write(entry: HistoryEntry): string {
  const view = viewEntry(entry);
  return `id: ${view.id}\nevent: ${view.kind}\ndata: ${JSON.stringify(view)}\n\n`;
}
