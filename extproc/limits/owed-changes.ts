/** Beyond it the oldest is dropped; what it would have given back leaves with its window. */
const MAX_OWED = 10_000;

interface Owed {
  readonly leavesAtMs: number;
  readonly tell: () => void;
}

/** What Redis is to be told when it is there again: the ends of requests that it let begin. */
export class OwedChanges {
  private list: Owed[] = [];

  /** `leavesAtMs`: from then on there is nothing to tell. */
  add(leavesAtMs: number, tell: () => void): void {
    if (this.list.length >= MAX_OWED) this.list.shift();
    this.list.push({ leavesAtMs, tell });
  }

  /** Tells everything; what fails again comes back by `add`. */
  pay(nowMs: number): void {
    const due = this.list;
    this.list = [];
    for (const { leavesAtMs, tell } of due) if (leavesAtMs > nowMs) tell();
  }
}
