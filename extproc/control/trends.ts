import type { BackendReport, Counters } from "../sync/contract.js";
import type { TrendsView } from "./schemas.js";
import { POINTS, TrendRing } from "./trend-ring.js";

const PERIOD_MS = 5_000;
const MOST_BACKENDS = 512;

export interface TrendsParts {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
  /** Live gateways. */
  readonly gateways: () => Iterable<{ readonly backends: ReadonlyMap<string, { report: BackendReport }> }>;
}

/** What came to each backend within the last 15 minutes, and how it stood, over all gateways of this service. */
export class Trends {
  private readonly rings = new Map<string, TrendRing>();
  /** The period that is not over. */
  private current: number;

  constructor(private readonly parts: TrendsParts) {
    this.current = this.indexNow();
  }

  /** A gateway told what it has counted; `before` is what it told last. */
  take(backend: string, counters: Counters, before: Counters): void {
    this.close();
    this.ringOf(backend)?.add(this.current, counters, before);
  }

  /**
   * Writes down how backends stand when a period is over. Called more often than that: of periods that nobody called in, nothing is
   * known.
   */
  close(): void {
    const index = this.indexNow();
    if (index <= this.current) return;
    const over = this.current;
    this.current = index;
    if (index > over + 1) return;
    for (const { backends } of this.parts.gateways())
      for (const [name, { report }] of backends) this.ringOf(name)?.mark(over, report.state);
  }

  /** Points that are over. `afterMs`: only those behind the last one that is known already. */
  view(afterMs?: number): TrendsView {
    this.close();
    const { now, wallNow } = this.parts;
    const endMs = Math.round(wallNow() - (now() - this.current * PERIOD_MS));
    const count = newPoints(endMs, afterMs);
    const backends = [...this.rings]
      .filter(([, ring]) => !ring.isOver(this.current))
      .map(([name, ring]) => ({ name, points: ring.list(this.current, count) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    return { periodMs: PERIOD_MS, endMs, backends };
  }

  private ringOf(backend: string): TrendRing | undefined {
    const known = this.rings.get(backend);
    if (known !== undefined) return known;
    if (this.rings.size >= MOST_BACKENDS) this.dropOver();
    if (this.rings.size >= MOST_BACKENDS) return undefined;
    const ring = new TrendRing(this.current);
    this.rings.set(backend, ring);
    return ring;
  }

  private dropOver(): void {
    for (const [name, ring] of this.rings) if (ring.isOver(this.current)) this.rings.delete(name);
  }

  private indexNow(): number {
    return Math.floor(this.parts.now() / PERIOD_MS);
  }
}

/** What is said to be known from the future is of another clock: all are new then. */
function newPoints(endMs: number, afterMs: number | undefined): number {
  if (afterMs === undefined) return POINTS;
  const periods = Math.round((endMs - afterMs) / PERIOD_MS);
  return periods < 0 ? POINTS : Math.min(periods, POINTS);
}
