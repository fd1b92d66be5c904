/** vLLM's own bucket bounds for time to first token, seconds. */
const FIRST_TOKEN_BOUNDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
  2560,
];
const END_TO_END_BOUNDS = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920,
];

class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(seconds: number): void {
    this.#sum += seconds;
    this.#count++;
    for (const [index, bound] of this.#bounds.entries()) {
      if (seconds <= bound) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    }
  }

  lines(name: string, labels: string): string[] {
    const buckets = this.#bounds.map(
      (bound, index) => `${name}_bucket{${labels},le="${bound}"} ${this.#counts[index]}`,
    );
    return [
      `# TYPE ${name} histogram`,
      ...buckets,
      `${name}_bucket{${labels},le="+Inf"} ${this.#count}`,
      `${name}_sum{${labels}} ${this.#sum}`,
      `${name}_count{${labels}} ${this.#count}`,
    ];
  }
}

/** The gauges at one moment, as the scheduler sees them. */
export interface Gauges {
  readonly running: number;
  readonly waiting: number;
  /** 0..1, despite vLLM's name for it. */
  readonly kvCacheUsage: number;
}

/** How the page names the KV cache's gauge: as vLLM does since 0.9, as it did before, in both ways, or not at all. */
export const KV_CACHE_NAMES = ["new", "old", "both", "neither"] as const;
export type KvCacheNames = (typeof KV_CACHE_NAMES)[number];

/** What the page is told to say, true or not. */
export interface PageSettings {
  readonly kvCacheNames: KvCacheNames;
  /** Instead of the true share; "NaN" is printed as it stands. */
  readonly kvCacheUsage?: number | "NaN" | undefined;
  /** Instead of the true number. */
  readonly waiting?: number | undefined;
}

export const HONEST_PAGE: PageSettings = { kvCacheNames: "new" };

/** Counts what vLLM counts, under vLLM's names, and prints it in Prometheus text format. */
export class EngineMetrics {
  readonly firstToken = new Histogram(FIRST_TOKEN_BOUNDS);
  readonly endToEnd = new Histogram(END_TO_END_BOUNDS);
  promptTokens = 0;
  generationTokens = 0;
  succeeded = 0;

  render(model: string, gauges: Gauges, page: PageSettings = HONEST_PAGE): string {
    const labels = `model_name="${model}",engine="0"`;
    const gauge = (name: string, value: number | "NaN"): string[] => [
      `# TYPE ${name} gauge`,
      `${name}{${labels}} ${value}`,
    ];
    const counter = (name: string, value: number, extra = ""): string[] => [
      `# TYPE ${name} counter`,
      `${name}{${labels}${extra}} ${value}`,
    ];
    const { kvCacheNames, kvCacheUsage = gauges.kvCacheUsage, waiting = gauges.waiting } = page;
    const isNew = kvCacheNames === "new" || kvCacheNames === "both";
    const isOld = kvCacheNames === "old" || kvCacheNames === "both";
    return [
      ...gauge("vllm:num_requests_running", gauges.running),
      ...gauge("vllm:num_requests_waiting", waiting),
      ...(isNew ? gauge("vllm:kv_cache_usage_perc", kvCacheUsage) : []),
      ...(isOld ? gauge("vllm:gpu_cache_usage_perc", kvCacheUsage) : []),
      ...counter("vllm:prompt_tokens_total", this.promptTokens),
      ...counter("vllm:generation_tokens_total", this.generationTokens),
      ...counter("vllm:request_success_total", this.succeeded, ',finished_reason="stop"'),
      ...this.firstToken.lines("vllm:time_to_first_token_seconds", labels),
      ...this.endToEnd.lines("vllm:e2e_request_latency_seconds", labels),
      "",
    ].join("\n");
  }
}
