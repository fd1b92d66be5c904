import { Worker } from "node:worker_threads";
import type { AskMessage, CountAsk, CountReply, ThreadMessage } from "./protocol.js";
import type { Normalization } from "./upper-bound.js";

/**
 * Without any answer for so long it hangs: a text is tokenized long before, an operator's template may never end. A
 * queue may take longer. Milliseconds.
 */
const HANG_MS = 5000;
/** A thread that needs more dies alone; Gemma's takes 150 while it loads. The native part is not in it. MiB. */
const MAX_HEAP_MIB = 512;

type Resolve = (reply: CountReply | undefined) => void;

/** One vocabulary in a worker thread, so that neither loading it nor a chat template holds up the event loop. */
export class VocabularyThread {
  /** Rejects with what is wrong with the file. */
  readonly ready: Promise<Normalization>;
  isReady = false;
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Resolve>();
  private hangTimer: NodeJS.Timeout | undefined;
  private lastId = 0;

  constructor(
    file: string,
    onExit: () => void,
    script = new URL("./vocabulary-worker.js", import.meta.url),
    private readonly hangMs = HANG_MS,
  ) {
    this.worker = new Worker(script, {
      workerData: { file },
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    this.ready = new Promise((resolve, reject) => {
      this.worker.on("message", (message: ThreadMessage) => {
        if (message.kind === "answer") return this.settle(message.id, message.reply);
        this.isReady = true;
        this.worker.unref();
        resolve(message.normalization);
      });
      // An error is followed by the exit.
      this.worker.on("error", reject);
      this.worker.on("exit", () => {
        this.isReady = false;
        reject(new Error("its thread ended"));
        for (const id of [...this.waiting.keys()]) this.settle(id, undefined);
        onExit();
      });
    });
    this.ready.catch(() => {});
  }

  get isIdle(): boolean {
    return this.waiting.size === 0;
  }

  /** Undefined when the thread can't tell: it has failed, hung or ended, or did not come to it until `untilMs`. */
  count(ask: CountAsk, untilMs = Number.POSITIVE_INFINITY): Promise<CountReply | undefined> {
    const id = ++this.lastId;
    const message: AskMessage = { id, ask, untilMs };
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      if (this.waiting.size === 1) this.expectAnswer();
      try {
        this.worker.postMessage(message);
      } catch {
        // Nested too deep to be copied.
        this.settle(id, undefined);
      }
    });
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }

  private settle(id: number, reply: CountReply | undefined): void {
    const resolve = this.waiting.get(id);
    if (resolve === undefined) return;
    this.waiting.delete(id);
    this.expectAnswer();
    resolve(reply);
  }

  private expectAnswer(): void {
    clearTimeout(this.hangTimer);
    if (this.waiting.size > 0) this.hangTimer = setTimeout(() => void this.close(), this.hangMs);
  }
}
