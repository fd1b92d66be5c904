import type { Second } from "./contract.js";

const SECONDS = 3_600;
const FIGURES = [
  "calls",
  "failures",
  "weightedFailures",
  "backpressure",
  "outOfMemory",
  "firstTokens",
  "slowCalls",
] as const;

export type SecondFigures = Readonly<Record<(typeof FIGURES)[number], number>>;

/** One second of a backend, summed over gateways. */
export interface RecordedSecond extends SecondFigures {
  /** When it began. Milliseconds since 1970. */
  readonly atMs: number;
}

/** The last hour of one backend by whole seconds of our clock: 100 kB, and adding takes no memory. */
export class SecondRing {
  private readonly figures = new Uint32Array(SECONDS * FIGURES.length);
  /** The latest second that something was added to; later ones are empty. */
  private newest = 0;

  add(atMs: number, second: Second): void {
    const index = indexOf(atMs);
    if (index < 0 || index <= this.newest - SECONDS) return;
    this.advance(index);
    const from = slotOf(index);
    for (const [offset, key] of FIGURES.entries())
      this.figures[from + offset] = (this.figures[from + offset] ?? 0) + second[key];
  }

  /** Whether nothing was added for so long that it holds nothing any more. */
  isOver(now: number): boolean {
    return this.newest <= indexOf(now) - SECONDS;
  }

  /** Seconds in which something was, oldest first. */
  list(now: number, wallNow: number): RecordedSecond[] {
    const oldest = Math.max(0, indexOf(now) - SECONDS + 1, this.newest - SECONDS + 1);
    const list: RecordedSecond[] = [];
    for (let index = oldest; index <= this.newest; index++) {
      const from = slotOf(index);
      const values = this.figures.subarray(from, from + FIGURES.length);
      if (values.every((value) => value === 0)) continue;
      const figures = Object.fromEntries(FIGURES.map((key, offset) => [key, values[offset] ?? 0]));
      list.push({
        atMs: wallNow - (now - (index - SECONDS) * 1000),
        ...(figures as unknown as SecondFigures),
      });
    }
    return list;
  }

  /** Clears what the seconds up to `index` take the place of. */
  private advance(index: number): void {
    if (index <= this.newest) return;
    const first = Math.max(this.newest + 1, index - SECONDS + 1);
    for (let passed = first; passed <= index; passed++) {
      const from = slotOf(passed);
      this.figures.fill(0, from, from + FIGURES.length);
    }
    this.newest = index;
  }
}

/** Our clock begins at 0 with this process; what gateways tell may have been an hour before. */
function indexOf(atMs: number): number {
  return Math.floor(atMs / 1000) + SECONDS;
}

function slotOf(index: number): number {
  return (index % SECONDS) * FIGURES.length;
}
