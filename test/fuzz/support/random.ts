/** Repeatable whole numbers: mulberry32. */
export class Random {
  constructor(private state: number) {}

  /** From 0 to `bound` - 1. */
  next(bound: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  }

  /** True once in so many times. */
  oneIn(count: number): boolean {
    return this.next(count) === 0;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.next(choices.length)] as T;
  }
}
