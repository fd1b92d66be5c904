import type { Counters, State } from "../sync/contract.js";

export const POINTS = 180;
/** What is not over yet stands beside those that are. */
const SLOTS = POINTS + 1;
const FIGURES = 5;
const STATES: readonly State[] = ["CLOSED", "HALF_OPEN", "OPEN"];

export type TrendCounters = Pick<
  Counters,
  "permitted" | "refused" | "limited" | "shed" | "diverted" | "success" | "failure"
>;

/** What one period of a backend had, over all gateways. */
export interface TrendPoint {
  readonly permitted: number;
  readonly refused: number;
  readonly diverted: number;
  readonly success: number;
  readonly failure: number;
  readonly state?: State;
}

/** The last periods of one backend: 4 kB, and adding takes no memory. */
export class TrendRing {
  private readonly figures = new Uint32Array(SLOTS * FIGURES);
  /** 0: nobody reported; else one more than the place in `STATES`. */
  private readonly states = new Uint8Array(SLOTS);
  /** The latest period that something was written to; later ones are empty. */
  private newest: number;

  constructor(index: number) {
    this.newest = index;
  }

  /** Adds what one gateway has counted since it told last. */
  add(index: number, now: TrendCounters, before: TrendCounters): void {
    this.advance(index);
    const from = slotOf(index) * FIGURES;
    const add = (figure: number, count: number) => {
      this.figures[from + figure] = (this.figures[from + figure] ?? 0) + Math.max(0, count);
    };
    add(0, now.permitted - before.permitted);
    add(1, keptBack(now) - keptBack(before));
    add(2, now.diverted - before.diverted);
    add(3, now.success - before.success);
    add(4, now.failure - before.failure);
  }

  /** Notes a state at the period's end; of several the worst. */
  mark(index: number, state: State): void {
    this.advance(index);
    const slot = slotOf(index);
    this.states[slot] = Math.max(this.states[slot] ?? 0, STATES.indexOf(state) + 1);
  }

  /** Whether nothing was written for so long that it holds nothing any more. */
  isOver(index: number): boolean {
    return this.newest < index - POINTS;
  }

  /** The `count` periods before `index`, oldest first. */
  list(index: number, count: number): TrendPoint[] {
    return Array.from({ length: count }, (_, place) => this.pointAt(index - count + place));
  }

  private pointAt(index: number): TrendPoint {
    if (index > this.newest || index <= this.newest - SLOTS) return NOTHING;
    const slot = slotOf(index);
    const figure = (place: number) => this.figures[slot * FIGURES + place] ?? 0;
    const state = STATES[(this.states[slot] ?? 0) - 1];
    return {
      permitted: figure(0),
      refused: figure(1),
      diverted: figure(2),
      success: figure(3),
      failure: figure(4),
      ...(state && { state }),
    };
  }

  /** Clears what the periods up to `index` take the place of. */
  private advance(index: number): void {
    if (index <= this.newest) return;
    for (let passed = Math.max(this.newest + 1, index - SLOTS + 1); passed <= index; passed++) {
      const slot = slotOf(passed);
      this.figures.fill(0, slot * FIGURES, (slot + 1) * FIGURES);
      this.states[slot] = 0;
    }
    this.newest = index;
  }
}

const NOTHING: TrendPoint = { permitted: 0, refused: 0, diverted: 0, success: 0, failure: 0 };

function keptBack({ refused, limited, shed }: TrendCounters): number {
  return refused + limited + shed;
}

/** Periods before this process began are asked for, too. */
function slotOf(index: number): number {
  return ((index % SLOTS) + SLOTS) % SLOTS;
}
