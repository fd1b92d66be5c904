import { type Clock, steadyClock } from "./clock.js";
import { RecentMap } from "./recent-map.js";
import type { SlidingWindow } from "./sliding-window.js";
import { slotWidth } from "./slots.js";

export type WindowTable = RecentMap<SlidingWindow>;

/** Callers whose counts are kept at once, for each kind of limit. Above it the least active are forgotten. */
const MAX_WINDOWS = 200_000;

/** What this process has counted. Outlives configurations: a changed limit must not give everybody a new budget. */
export class LimitMemory {
  private readonly tables = new Map<string, WindowTable>();

  constructor(readonly now: Clock = steadyClock) {}

  windows(kind: string, windowSeconds: number): WindowTable {
    const name = `${kind}:${windowSeconds}`;
    const known = this.tables.get(name);
    if (known) return known;
    const periodMs = windowSeconds * 1000 + slotWidth(windowSeconds);
    const table: WindowTable = new RecentMap(periodMs, MAX_WINDOWS, this.now());
    this.tables.set(name, table);
    return table;
  }
}
