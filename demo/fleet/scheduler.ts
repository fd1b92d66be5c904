/**
 * The engine's batch: `maxRunning` requests at once, the rest wait in order of arrival, as vLLM's unbounded queue does.
 * Also adds up the tokens that the running ones hold in the KV cache.
 */
export class Scheduler {
  readonly #maxRunning: number;
  readonly #kvCacheTokens: number;
  readonly #queue: (() => void)[] = [];
  #running = 0;
  #heldTokens = 0;

  constructor(maxRunning: number, kvCacheTokens: number) {
    this.#maxRunning = maxRunning;
    this.#kvCacheTokens = kvCacheTokens;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Share of the KV cache in use, 0..1. */
  get kvCacheUsage(): number {
    return Math.min(1, this.#heldTokens / this.#kvCacheTokens);
  }

  /** Runs `work` when a slot is free, counting `tokens` as held meanwhile; the slot is freed however it ends. */
  async run(tokens: number, work: () => Promise<void>): Promise<void> {
    if (this.#running >= this.#maxRunning) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#running++;
    this.#heldTokens += tokens;
    try {
      await work();
    } finally {
      this.#running--;
      this.#heldTokens -= tokens;
      this.#queue.shift()?.();
    }
  }
}
