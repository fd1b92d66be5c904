import { type Sample, withoutLabel } from "./sample-line.js";

/** What an engine's page tells; undefined: unknown, which is never 0. */
export interface EngineFigures {
  /** 0 to 1, of the engine on the page that uses most. */
  readonly kvCacheUse: number | undefined;
  /** Of the engine on the page at which most requests wait. */
  readonly waiting: number | undefined;
}

/** One figure under all names it has had, newest first: an older one counts where no newer one tells anything. */
type Names = readonly string[];

/** All are fractions, "perc" too. */
const KV_CACHE_USES: readonly Names[] = [
  ["vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"],
  ["sglang:full_token_usage", "sglang:token_usage"],
  ["trtllm_kv_cache_utilization"],
  ["lmdeploy:gpu_cache_usage_perc"],
  ["llamacpp:kv_cache_usage_ratio"],
];

const WAITING: readonly Names[] = [
  ["vllm:num_requests_waiting"],
  ["sglang:num_queue_reqs"],
  ["tgi_queue_size"],
  ["trtllm_num_requests_waiting"],
  ["lmdeploy:num_requests_waiting"],
  ["llamacpp:requests_deferred"],
  ["nv_inference_pending_request_count"],
];

const TGI_USED = "tgi_batch_current_max_tokens";
const TGI_MAX = "tgi_batch_max_total_tokens";
/** Its label says which of used, max, free … a line tells. */
const TRITON_BLOCKS = "nv_trt_llm_kv_cache_block_metrics";
const TRITON_KIND = "kv_cache_block_type";

/** The metrics that pages are searched for; a metric's number is its place here. */
export const METRIC_NAMES: readonly string[] = [
  ...KV_CACHE_USES.flat(),
  ...WAITING.flat(),
  TGI_USED,
  TGI_MAX,
  TRITON_BLOCKS,
];

/** Above it a fraction is something else, a percentage perhaps; a little over 1 is rounding. */
const MOST_USE = 1.5;
const MOST_WAITING = 1_000_000_000;
/** Models of one Triton; a page with more of them is none that we know. */
const MAX_RATIOS = 64;

interface Ratio {
  used?: number;
  max?: number;
}

/** Gathers what one page tells. Several engines, models or ranks on it: the worst counts. */
export class EngineMetrics {
  private readonly worst = new Map<string, number>();
  private readonly ratios = new Map<string, Ratio>();

  add(name: string, sample: Sample): void {
    // No number is no vote: of an unknown queue and one of 3 the worst that is known counts.
    if (!(sample.value >= 0) || sample.value === Number.POSITIVE_INFINITY) return;
    if (name === TGI_USED || name === TGI_MAX) {
      this.addToRatio(name === TGI_USED ? "used" : "max", `tgi${sample.labels}`, sample.value);
    } else if (name === TRITON_BLOCKS) {
      const [kind, others] = withoutLabel(sample.labels, TRITON_KIND);
      if (kind === "used" || kind === "max") this.addToRatio(kind, `triton${others}`, sample.value);
    } else if (isPlausible(name, sample.value)) {
      this.worst.set(name, Math.max(sample.value, this.worst.get(name) ?? 0));
    }
  }

  figures(): EngineFigures {
    const uses = [...KV_CACHE_USES.map((names) => this.newest(names)), ...this.ratioUses()];
    const use = worstOf(uses);
    const waiting = worstOf(WAITING.map((names) => this.newest(names)));
    return {
      kvCacheUse: use === undefined ? undefined : Math.min(use, 1),
      waiting: waiting === undefined ? undefined : Math.min(Math.ceil(waiting), MOST_WAITING),
    };
  }

  private newest(names: Names): number | undefined {
    const name = names.find((each) => this.worst.has(each));
    return name === undefined ? undefined : this.worst.get(name);
  }

  private addToRatio(part: keyof Ratio, key: string, value: number): void {
    const ratio = this.ratios.get(key) ?? {};
    if (this.ratios.size >= MAX_RATIOS && !this.ratios.has(key)) return;
    ratio[part] = value;
    this.ratios.set(key, ratio);
  }

  private ratioUses(): (number | undefined)[] {
    return [...this.ratios.values()].map(({ used, max }) => {
      const use = used !== undefined && max !== undefined && max > 0 ? used / max : undefined;
      return use !== undefined && use <= MOST_USE ? use : undefined;
    });
  }
}

const useNames = new Set(KV_CACHE_USES.flat());

function isPlausible(name: string, value: number): boolean {
  return value <= MOST_USE || !useNames.has(name);
}

function worstOf(figures: readonly (number | undefined)[]): number | undefined {
  const known = figures.filter((figure) => figure !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
