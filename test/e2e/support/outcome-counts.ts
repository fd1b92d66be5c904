import type { Alias, Rig } from "./rig.js";

export type Outcomes = Readonly<Record<"success" | "failure" | "backpressure" | "neutral", number>>;

const names = ["success", "failure", "backpressure", "neutral"] as const;
const none: Outcomes = { success: 0, failure: 0, backpressure: 0, neutral: 0 };

/** What a backend's attempts came to since the last look: one look costs a tick, so tests take it once, at their end. */
export class OutcomeCounts {
  #seen = none;

  constructor(
    private readonly rig: Rig,
    private readonly alias: Alias = "gpu",
  ) {}

  /** Outcomes since the last call, those that are not zero. */
  async news(): Promise<Partial<Outcomes>> {
    const stats = await this.rig.envoy.stats(`^wasmcustom\\.llm_breaker\\.${this.alias}\\.outcome\\.`);
    const entries = names.map((name) => {
      return [name, stats.get(`wasmcustom.llm_breaker.${this.alias}.outcome.${name}`) ?? 0] as const;
    });
    const before = this.#seen;
    this.#seen = Object.fromEntries(entries) as Record<keyof Outcomes, number>;
    const changes = entries.map(([name, count]) => [name, count - before[name]] as const);
    return Object.fromEntries(changes.filter(([, change]) => change !== 0));
  }
}
