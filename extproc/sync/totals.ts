import { NO_COUNTERS } from "./blank.js";
import type { Counters } from "./contract.js";

/** What nobody has told of for so long makes room for what is new: policies get new names. */
const GONE_AFTER_MS = 300_000;

/** What all processes counted since we first heard of them, by policy and backend. */
export class Totals {
  /** Longest unheard first. */
  private readonly sums = new Map<string, Total & { heardAtMs: number }>();

  constructor(private readonly most: number) {}

  /**
   * Adds what a process has counted since `before`; undefined: nothing of it is known, and what it counted for another service
   * before us is not ours to count again.
   */
  add(policy: string, backend: string, counters: Counters, before: Counters | undefined, now: number): void {
    const total = this.of(policy, backend, now);
    if (total === undefined) return;
    for (const key of Object.keys(counters) as (keyof Counters)[]) {
      const from = before?.[key] ?? counters[key];
      total.counters[key] += Math.max(0, counters[key] - from);
    }
  }

  addTransition(policy: string, backend: string, cause: string): void {
    const total = this.sums.get(keyOf(policy, backend));
    if (total !== undefined) total.transitions.set(cause, (total.transitions.get(cause) ?? 0) + 1);
  }

  list(): Iterable<Total> {
    return this.sums.values();
  }

  private of(policy: string, backend: string, now: number): Total | undefined {
    const key = keyOf(policy, backend);
    const known = this.sums.get(key);
    if (known === undefined && this.sums.size >= this.most && !this.dropGone(now)) return undefined;
    const total = known ?? {
      policy,
      backend,
      counters: { ...NO_COUNTERS },
      transitions: new Map(),
      heardAtMs: now,
    };
    total.heardAtMs = now;
    this.sums.delete(key);
    this.sums.set(key, total);
    return total;
  }

  private dropGone(now: number): boolean {
    for (const [key, { heardAtMs }] of this.sums)
      return now - heardAtMs >= GONE_AFTER_MS && this.sums.delete(key);
    return false;
  }
}

function keyOf(policy: string, backend: string): string {
  return JSON.stringify([policy, backend]);
}

export interface Total {
  readonly policy: string;
  readonly backend: string;
  readonly counters: Record<keyof Counters, number>;
  /** By cause; their names are a fixed list. */
  readonly transitions: Map<string, number>;
}
