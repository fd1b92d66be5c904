import { State } from "../record/names.js";
import type { Snapshot } from "../record/snapshot.js";

/** Successes without a permit, of one generation, that a VM keeps until it files them. */
export interface Batch {
  readonly generation: number;
  readonly calls: number;
}

const none: Batch = { generation: 0, calls: 0 };
/** As in filter/steady.ts. */
const steadiness = { unknown: 0, failing: 1, calm: 2 };

/** What the gauge has to tell of a record. */
export function steadinessOf({ state, consecutiveFailures }: Snapshot): number {
  if (state !== State.closed) return steadiness.unknown;
  return consecutiveFailures > 0 ? steadiness.failing : steadiness.calm;
}

/** What the workers' VMs should have gathered, and the gauge that tells them whether they may: filter/successes.ts. */
export class Gathering {
  /** As some worker has told it last. */
  steadiness = steadiness.unknown;
  readonly #batches: Batch[] = [];
  /** Workers that note a success, each within the call of the one before. */
  readonly #noting: number[] = [];

  /** A worker's VM begins to note a success. Gives what it has to file before: a batch is of one generation. */
  begin(worker: number, generation: number): Batch {
    const batch = this.#batches[worker] ?? none;
    const isNext = batch.generation === generation;
    this.#batches[worker] = { generation, calls: isNext ? batch.calls + 1 : 1 };
    this.#noting.push(worker);
    return isNext ? none : batch;
  }

  /** Gives whether its batch has been left to the tick although not all was calm. */
  end(worker: number): boolean {
    this.#noting.pop();
    return !this.#isCalm && (this.#batches[worker] ?? none).calls > 0;
  }

  /** The gauge is read. Gives the worker that has to file its batch at once. */
  hasty(): number | undefined {
    return this.#isCalm ? undefined : this.#noting.at(-1);
  }

  get #isCalm(): boolean {
    return this.steadiness === steadiness.calm;
  }

  /** It files them, or dies with them. */
  take(worker: number): Batch {
    const { generation, calls } = this.#batches[worker] ?? none;
    this.#batches[worker] = { generation, calls: 0 };
    return { generation, calls };
  }

  restart(worker: number): void {
    this.#batches[worker] = none;
  }
}
