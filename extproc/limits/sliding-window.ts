import { slotOf } from "./slots.js";

/** What a question gave. Milliseconds from now. */
export interface Asked {
  readonly isGranted: boolean;
  /** Points that count now, with those asked for when they were granted. */
  readonly total: number;
  /** Granted: until they leave. Refused: until as many would fit. */
  readonly waitMs: number;
}

/**
 * The points of one caller that still count, by the slot at whose end they leave. At most as many entries as slots are
 * alive, mostly one or two; a call costs no more than that. Never throws; `nowMs` may step back.
 */
export class SlidingWindow {
  /** Ascending, each once. */
  private slots: number[] = [];
  private points: number[] = [];

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

  total(nowMs: number): number {
    const alive = this.slots.findIndex((slot) => slot * this.widthMs > nowMs);
    const dead = alive < 0 ? this.slots.length : alive;
    this.slots.splice(0, dead);
    this.points.splice(0, dead);
    return this.points.reduce((sum, each) => sum + each, 0);
  }

  private add(slot: number, points: number): void {
    const found = this.slots.findIndex((each) => each >= slot);
    const at = found < 0 ? this.slots.length : found;
    if (this.slots[at] === slot) this.points[at] = Math.max(0, (this.points[at] ?? 0) + points);
    else if (points > 0) {
      this.slots.splice(at, 0, slot);
      this.points.splice(at, 0, points);
    }
  }

  private untilFits(excess: number, nowMs: number): number {
    let left = excess;
    const at = this.points.findIndex((points) => {
      left -= points;
      return left <= 0;
    });
    const slot = this.slots[at < 0 ? this.slots.length - 1 : at] ?? 0;
    return Math.max(1, slot * this.widthMs - nowMs);
  }
}
