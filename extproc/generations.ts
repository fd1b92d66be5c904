import type { Services } from "./services.js";

/** How long a stream of an older configuration keeps that alive. Longer than any answer takes. */
const RETIRED_MS = 3_600_000;

interface Generation {
  readonly services: Services;
  streams: number;
  isRetired: boolean;
  timer?: NodeJS.Timeout;
}

/** One stream's hold on what it began with. */
export interface Lease {
  readonly services: Services;
  /** The stream is over; called once. */
  end(): void;
}

/**
 * The services that new streams are answered by, and older ones whose streams have not ended: a stream ends with
 * the configuration it began with.
 */
export class Generations {
  private current: Generation;
  private readonly alive = new Set<Generation>();

  constructor(
    first: Services,
    private readonly retiredMs = RETIRED_MS,
  ) {
    this.current = this.add(first);
  }

  /** Generations that are not closed: 1 unless streams of older ones are open. */
  get count(): number {
    return this.alive.size;
  }

  get services(): Services {
    return this.current.services;
  }

  lease(): Lease {
    const generation = this.current;
    generation.streams++;
    return {
      services: generation.services,
      end: () => {
        generation.streams--;
        if (generation.isRetired && generation.streams === 0) this.close(generation);
      },
    };
  }

  /** New streams get `next`. The one before is closed when its last stream has ended, at the latest after the limit. */
  swap(next: Services): void {
    const old = this.current;
    this.current = this.add(next);
    old.isRetired = true;
    if (old.streams === 0) this.close(old);
    else old.timer = setTimeout(() => this.close(old), this.retiredMs).unref();
  }

  closeAll(): void {
    for (const generation of [...this.alive]) this.close(generation);
  }

  private add(services: Services): Generation {
    const generation = { services, streams: 0, isRetired: false };
    this.alive.add(generation);
    return generation;
  }

  private close(generation: Generation): void {
    clearTimeout(generation.timer);
    if (this.alive.delete(generation)) generation.services.close();
  }
}
