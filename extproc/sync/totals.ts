import type { Counters } from "./contract.js";

/** What all processes counted since we first heard of them, by policy and backend. */
export class Totals {
  private readonly sums = new Map<string, Total>();

  constructor(private readonly most: number) {}

  /**
   * Adds what a process has counted since `before`; undefined: nothing of it is known, and what it counted for another service
   * before us is not ours to count again.
   */
  add(policy: string, backend: string, counters: Counters, before: Counters | undefined): void {
    const total = this.of(policy, backend);
    if (total === undefined) return;
    for (const key of Object.keys(counters) as (keyof Counters)[]) {
      const from = before?.[key] ?? counters[key];
      total.counters[key] += Math.max(0, counters[key] - from);
    }
  }

  addTransition(policy: string, backend: string, cause: string): void {
    const total = this.of(policy, backend);
    if (total !== undefined) total.transitions.set(cause, (total.transitions.get(cause) ?? 0) + 1);
  }

  list(): Iterable<Total> {
    return this.sums.values();
  }

  private of(policy: string, backend: string): Total | undefined {
    const key = JSON.stringify([policy, backend]);
    const known = this.sums.get(key);
    if (known !== undefined || this.sums.size >= this.most) return known;
    const total = { policy, backend, counters: { ...NOTHING }, transitions: new Map<string, number>() };
    this.sums.set(key, total);
    return total;
  }
}

export interface Total {
  readonly policy: string;
  readonly backend: string;
  readonly counters: Record<keyof Counters, number>;
  /** By cause; their names are a fixed list. */
  readonly transitions: Map<string, number>;
}

/** What a process has counted when it starts. */
export const NOTHING: Counters = {
  permitted: 0,
  refused: 0,
  limited: 0,
  shed: 0,
  diverted: 0,
  success: 0,
  failure: 0,
  backpressure: 0,
  neutral: 0,
  late: 0,
  canaries: 0,
  probes: 0,
  opened: 0,
};
