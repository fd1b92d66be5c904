import type { History, HistoryEntry } from "./history.js";
import { viewEntry } from "./views.js";

/** Each holds a connection. */
const MAX_READERS = 32;
/** Events that wait for a reader; one that falls behind further is dropped, and may come back with Last-Event-ID. */
const MAX_WAITING = 256;
const HEARTBEAT_MS = 15_000;

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** The history as server-sent events, to whoever listens. */
export class EventFeed {
  private readonly readers = new Set<Controller>();
  private readonly unsubscribe: () => void;
  private readonly heartbeat: NodeJS.Timeout;
  private readonly encoder = new TextEncoder();

  constructor(private readonly history: History) {
    this.unsubscribe = history.subscribe((entry) => this.sendAll(write(entry)));
    this.heartbeat = setInterval(() => this.sendAll(": alive\n\n"), HEARTBEAT_MS).unref();
  }

  /** What one reader gets, from now on or from behind the entry `after`; undefined when there are too many already. */
  open(after?: number): ReadableStream<Uint8Array> | undefined {
    if (this.readers.size >= MAX_READERS) return undefined;
    let own: Controller;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          own = controller;
          this.readers.add(controller);
          this.send(controller, "retry: 2000\n\n");
          const missed = after === undefined ? [] : this.history.list(after).slice(1 - MAX_WAITING);
          for (const entry of missed) this.send(controller, write(entry));
        },
        cancel: () => {
          this.readers.delete(own);
        },
      },
      new CountQueuingStrategy({ highWaterMark: MAX_WAITING }),
    );
  }

  get size(): number {
    return this.readers.size;
  }

  /** Ends all readers' streams. */
  close(): void {
    this.unsubscribe();
    clearInterval(this.heartbeat);
    for (const controller of this.readers) controller.close();
    this.readers.clear();
  }

  private sendAll(text: string): void {
    for (const controller of this.readers) this.send(controller, text);
  }

  private send(controller: Controller, text: string): void {
    if ((controller.desiredSize ?? 0) > 0) {
      controller.enqueue(this.encoder.encode(text));
      return;
    }
    this.readers.delete(controller);
    controller.error(new Error("the reader is too slow"));
  }
}

function write(entry: HistoryEntry): string {
  const view = viewEntry(entry);
  return `id: ${view.id}\nevent: ${view.kind}\ndata: ${JSON.stringify(view)}\n\n`;
}
