import type { EngineFigures } from "./engine-metrics.js";

/** What is older tells nothing. */
export const WINDOW_MS = 5_000;
/** Between two samples; two in a row may be lost at a period of a second. */
const MAX_HOLE_MS = 2_500;

interface KvSample {
  readonly atMs: number;
  readonly use: number;
}

/** What one engine told within the last 5 s. All times are the caller's, and never go back. */
export class SampleWindow {
  /** Oldest first; the first may be older than the window, to tell whether its beginning is covered. */
  private readonly uses: KvSample[] = [];
  private readAtMs = Number.NEGATIVE_INFINITY;
  private waitingAtMs = Number.NEGATIVE_INFINITY;
  private lastWaiting = 0;

  add(atMs: number, { kvCacheUse, waiting }: EngineFigures): void {
    this.readAtMs = atMs;
    if (waiting !== undefined) {
      this.waitingAtMs = atMs;
      this.lastWaiting = waiting;
    }
    if (kvCacheUse !== undefined) this.uses.push({ atMs, use: kvCacheUse });
    while ((this.uses[1]?.atMs ?? Number.POSITIVE_INFINITY) <= atMs - WINDOW_MS) this.uses.shift();
  }

  /** A page was read, whatever it told. */
  isFresh(now: number): boolean {
    return this.readAtMs >= now - WINDOW_MS;
  }

  /** When a page was read last. */
  get lastReadMs(): number {
    return this.readAtMs;
  }

  waiting(now: number): number | undefined {
    return this.waitingAtMs >= now - WINDOW_MS ? this.lastWaiting : undefined;
  }

  /** The highest of the last 5 s. */
  kvCacheUse(now: number): number | undefined {
    let worst: number | undefined;
    for (const { atMs, use } of this.uses) {
      if (atMs >= now - WINDOW_MS) worst = Math.max(worst ?? 0, use);
    }
    return worst;
  }

  /** There are KV-cache samples from the window's beginning to now, with no hole of more than 2.5 s. */
  isWhole(now: number): boolean {
    let laterMs = now;
    for (let index = this.uses.length - 1; index >= 0; index--) {
      const { atMs } = this.uses[index] as KvSample;
      if (laterMs - atMs > MAX_HOLE_MS) return false;
      if (atMs <= now - WINDOW_MS) return true;
      laterMs = atMs;
    }
    return false;
  }
}
