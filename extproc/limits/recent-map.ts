/**
 * A map whose unused entries go by themselves: two generations, and what is used moves to the young one. An entry lives
 * on for one to two periods after its last use. At most `maxEntries`; above half of them the older half goes early.
 * O(1), no timers.
 */
export class RecentMap<Value> {
  private young = new Map<string, Value>();
  private old = new Map<string, Value>();
  private turnsAtMs: number;

  constructor(
    private readonly periodMs: number,
    private readonly maxEntries: number,
    nowMs: number,
  ) {
    this.turnsAtMs = nowMs + periodMs;
  }

  get size(): number {
    return this.young.size + this.old.size;
  }

  get(key: string, nowMs: number): Value | undefined {
    this.turn(nowMs);
    const value = this.young.get(key);
    if (value !== undefined) return value;
    const older = this.old.get(key);
    if (older !== undefined) {
      this.old.delete(key);
      this.young.set(key, older);
    }
    return older;
  }

  set(key: string, value: Value, nowMs: number): void {
    this.turn(nowMs);
    this.old.delete(key);
    this.young.set(key, value);
  }

  private turn(nowMs: number): void {
    const isDue = nowMs >= this.turnsAtMs;
    if (!isDue && this.young.size < this.maxEntries / 2) return;
    this.old = nowMs >= this.turnsAtMs + this.periodMs ? new Map() : this.young;
    this.young = new Map();
    this.turnsAtMs = nowMs + this.periodMs;
  }
}
