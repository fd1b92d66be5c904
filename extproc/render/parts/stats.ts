import type { YamlMap } from "../yaml/value.js";

const FIRST_TOKEN_STEPS_MS = [50, 100, 250, 500, 1000, 2500, 5000, 10_000, 20_000, 40_000, 80_000, 160_000];

/** Labels for Prometheus in place of names with the backend in them: `stats_config` of the bootstrap. */
export function statsConfig(): YamlMap {
  return {
    stats_tags: [
      { tag_name: "backend", regex: "\\bllm_breaker\\.(([A-Za-z0-9_-]+)\\.)" },
      { tag_name: "chain", regex: "\\bllm_breaker_chain\\.((.+)\\.)\\w+$" },
    ],
    histogram_bucket_settings: [
      {
        match: { safe_regex: { regex: "(.*\\.)?llm_breaker\\.[A-Za-z0-9_-]+\\.first_token_ms" } },
        buckets: FIRST_TOKEN_STEPS_MS,
      },
    ],
  };
}
