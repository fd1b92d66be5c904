import { type TransferListItem, Worker } from "node:worker_threads";
import type { JobAnswer } from "./job-answer.js";

export interface PoolSettings {
  /** The worker's module; it answers by `serveJobs`. */
  readonly script: URL;
  readonly size: number;
  /** Jobs that may wait for a worker; one more gets no answer, at once. */
  readonly maxWaiting: number;
  /** From `run` to the answer, waiting included. Milliseconds. */
  readonly timeLimitMs: number;
  /** Heap of one worker; one that needs more dies alone. MiB. */
  readonly maxHeapMiB: number;
}

interface Job<Ask, Reply> {
  readonly ask: Ask;
  readonly transfer: readonly TransferListItem[];
  readonly timer: NodeJS.Timeout;
  readonly resolve: (reply: Reply | undefined) => void;
}

interface Thread<Ask, Reply> {
  readonly worker: Worker;
  job: Job<Ask, Reply> | undefined;
}

/**
 * Worker threads that do one job each at a time, for work that would hold up the event loop. No answer (undefined)
 * is what a job gets that finds the queue full, takes too long, throws, or whose worker dies: a stuck worker is
 * ended, since nothing else stops it, and replaced when the next job comes.
 */
export class WorkerPool<Ask, Reply> {
  private readonly threads = new Set<Thread<Ask, Reply>>();
  private readonly waiting: Job<Ask, Reply>[] = [];
  private isClosed = false;

  constructor(private readonly settings: PoolSettings) {}

  /** Starts a worker now, so that the first job does not wait for it. */
  warm(): void {
    if (this.threads.size === 0 && !this.isClosed) this.spawn();
  }

  /** What is in `transfer` belongs to the worker from now on. */
  run(ask: Ask, transfer: readonly TransferListItem[] = []): Promise<Reply | undefined> {
    if (this.isClosed || (this.idle() === undefined && this.waiting.length >= this.settings.maxWaiting)) {
      return Promise.resolve(undefined);
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.giveUp(job), this.settings.timeLimitMs);
      const job: Job<Ask, Reply> = { ask, transfer, timer, resolve };
      this.waiting.push(job);
      this.assign();
    });
  }

  /** Ends the workers; jobs that are open get no answer. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const job of this.waiting.splice(0)) finish(job, undefined);
    await Promise.all([...this.threads].map((thread) => this.end(thread)));
  }

  private assign(): void {
    for (let thread = this.idle(); thread && this.waiting.length > 0; thread = this.idle()) {
      const job = this.waiting.shift();
      if (job === undefined) return;
      const use = thread === "new" ? this.spawn() : thread;
      use.job = job;
      use.worker.postMessage(job.ask, job.transfer);
    }
  }

  private idle(): Thread<Ask, Reply> | "new" | undefined {
    for (const thread of this.threads) if (thread.job === undefined) return thread;
    return this.threads.size < this.settings.size ? "new" : undefined;
  }

  private spawn(): Thread<Ask, Reply> {
    const { script, maxHeapMiB } = this.settings;
    const resourceLimits = { maxOldGenerationSizeMb: maxHeapMiB };
    const thread: Thread<Ask, Reply> = {
      worker: new Worker(script, { resourceLimits, execArgv: [] }),
      job: undefined,
    };
    const onAnswer = (reply: Reply | undefined) => {
      const { job } = thread;
      thread.job = undefined;
      if (job) finish(job, reply);
      this.assign();
    };
    thread.worker.on("message", (answer: JobAnswer<Reply>) => onAnswer(answer.reply));
    // Nested deeper than this thread's stack can unpack, which is smaller than the worker's.
    thread.worker.on("messageerror", () => onAnswer(undefined));
    // An error is followed by the exit.
    thread.worker.on("error", () => {});
    thread.worker.on("exit", () => {
      void this.end(thread);
      this.assign();
    });
    // Only an open job keeps the process up, by its timer. Listeners take a reference, so this comes after them.
    thread.worker.unref();
    this.threads.add(thread);
    return thread;
  }

  private giveUp(job: Job<Ask, Reply>): void {
    const at = this.waiting.indexOf(job);
    if (at !== -1) this.waiting.splice(at, 1);
    for (const thread of this.threads) if (thread.job === job) void this.end(thread);
    finish(job, undefined);
    this.assign();
  }

  private async end(thread: Thread<Ask, Reply>): Promise<void> {
    if (!this.threads.delete(thread)) return;
    if (thread.job) finish(thread.job, undefined);
    await thread.worker.terminate();
  }
}

function finish<Ask, Reply>(job: Job<Ask, Reply>, reply: Reply | undefined): void {
  clearTimeout(job.timer);
  job.resolve(reply);
}
