interface Event {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** Virtual time: what is to happen, in order of its time. A binary heap. */
export class EventQueue {
  now = 0;
  private readonly heap: Event[] = [];
  private added = 0;

  after(delayMs: number, run: () => void): void {
    this.push({ atMs: this.now + delayMs, order: this.added++, run });
  }

  /** Runs all that happens up to then. */
  runUntil(endMs: number): void {
    for (let next = this.heap[0]; next !== undefined && next.atMs <= endMs; next = this.heap[0]) {
      this.pop();
      this.now = next.atMs;
      next.run();
    }
    this.now = endMs;
  }

  private push(event: Event): void {
    this.heap.push(event);
    for (let at = this.heap.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.swapIfLater(parent, at)) return;
      at = parent;
    }
  }

  private pop(): void {
    const last = this.heap.pop();
    if (last === undefined || this.heap.length === 0) return;
    this.heap[0] = last;
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const child = this.isBefore(left + 1, left) ? left + 1 : left;
      if (child >= this.heap.length || !this.swapIfLater(at, child)) return;
      at = child;
    }
  }

  private swapIfLater(parent: number, child: number): boolean {
    const [one, other] = [this.heap[parent], this.heap[child]];
    if (one === undefined || other === undefined || !this.isBefore(child, parent)) return false;
    this.heap[parent] = other;
    this.heap[child] = one;
    return true;
  }

  private isBefore(at: number, than: number): boolean {
    const [one, other] = [this.heap[at], this.heap[than]];
    if (one === undefined || other === undefined) return false;
    return one.atMs !== other.atMs ? one.atMs < other.atMs : one.order < other.order;
  }
}

/** Seeded; mulberry32. In [0, 1). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}
