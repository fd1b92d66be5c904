import { slotOf } from "./slots.js";

/** What a question gave. Milliseconds from now. */
export interface Asked {
  readonly isGranted: boolean;
  /** Points that count now, with those asked for when they were granted. */
  readonly total: number;
  /** Granted: until they leave. Refused: until as many would fit. */
  readonly waitMs: number;
}

/** Slot and points in turn, slots ascending and each once. Exactly as long as it must be: there is one for each caller. */
type Entries = readonly number[];

const NO_ENTRIES: Entries = [];

/**
 * The points of one caller that still count, by the slot at whose end they leave. At most as many entries as slots are
 * alive, mostly one or two; a call costs no more than that. Never throws; `nowMs` may step back.
 */
export class SlidingWindow {
  private entries = NO_ENTRIES;

  constructor(private readonly widthMs: number) {}

  /** Takes `asked` points for `seconds` if `limit` allows them; they leave together. */
  ask(asked: number, seconds: number, limit: number, nowMs: number): Asked {
    const total = this.total(nowMs);
    if (total + asked > limit) {
      return { isGranted: false, total, waitMs: this.untilFits(total + asked - limit, nowMs) };
    }
    const slot = slotOf(nowMs, seconds, this.widthMs);
    this.add(slot, asked);
    return { isGranted: true, total: total + asked, waitMs: slot * this.widthMs - nowMs };
  }

  /** Adds points whatever the limit, or, below 0, takes back what their slot still holds. Gives the total. */
  tell(points: number, seconds: number, nowMs: number): number {
    this.add(slotOf(nowMs, seconds, this.widthMs), points);
    return this.total(nowMs);
  }

  /** What counts now. */
  total(nowMs: number): number {
    const dead = this.entries.findIndex((slot, at) => at % 2 === 0 && slot * this.widthMs > nowMs);
    if (dead < 0) this.entries = NO_ENTRIES;
    else if (dead > 0) this.entries = this.entries.slice(dead);
    return this.entries.reduce((sum, points, at) => (at % 2 === 1 ? sum + points : sum), 0);
  }

  private add(slot: number, points: number): void {
    const found = this.entries.findIndex((each, at) => at % 2 === 0 && each >= slot);
    const at = found < 0 ? this.entries.length : found;
    const isKnown = this.entries[at] === slot;
    const held = isKnown ? (this.entries[at + 1] ?? 0) : 0;
    const after = this.entries.slice(isKnown ? at + 2 : at);
    this.entries = this.entries.slice(0, at).concat(slot, Math.max(0, held + points), after);
  }

  private untilFits(excess: number, nowMs: number): number {
    let left = excess;
    const last = this.entries.length - 2;
    for (let at = 0; at <= last; at += 2) {
      left -= this.entries[at + 1] ?? 0;
      if (left <= 0 || at === last) return Math.max(1, (this.entries[at] ?? 0) * this.widthMs - nowMs);
    }
    return 1;
  }
}
