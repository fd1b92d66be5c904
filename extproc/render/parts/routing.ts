import type { Plan } from "../plan.js";
import { commented, type YamlMap } from "../yaml/value.js";
import { extension } from "./types.js";
import { STOP_CLUSTER } from "./upstream.js";

const SPECIFIERS = "envoy.extensions.router.cluster_specifiers.matcher.v3";
export const BACKEND_STATE = "wasm.llm.breaker.backend";

/** The chain that a route names in its metadata. */
export function routeChain(plan: Plan): string {
  const [first, ...others] = plan.chains;
  return first !== undefined && others.length === 0 && first.models.length === 0 ? first.name : "by-model";
}

function clusterAction(name: string, cluster: string): YamlMap {
  return { action: extension(name, `${SPECIFIERS}.ClusterAction`, { cluster }) };
}

/** Sends a request to the backend that the gate, or the meter, has named. */
export function clusterMatcher(clusters: ReadonlyMap<string, string>): YamlMap {
  const lines = [...clusters].map(([alias, cluster]) => [alias, clusterAction(alias, cluster)]);
  return extension("llm.breaker", `${SPECIFIERS}.MatcherClusterSpecifier`, {
    cluster_matcher: {
      matcher_tree: {
        input: extension("backend", "envoy.extensions.matching.common_inputs.network.v3.FilterStateInput", {
          key: BACKEND_STATE,
        }),
        exact_match_map: { map: Object.fromEntries(lines) as YamlMap },
      },
      on_no_match: commented(
        "TRAP: an unknown name, or a gate that did not run, must not fall through to a backend.",
        clusterAction("stop", STOP_CLUSTER),
      ),
    },
  });
}

/** `canChangeCluster`: Envoy 1.39 and later. Without it one more try at the same backend is all that a retry can be. */
export function retryPolicy(plan: Plan, canChangeCluster: boolean): YamlMap {
  const attempts = Math.max(...plan.chains.map(({ maxAttempts }) => maxAttempts));
  const retries = attempts === 1 ? 0 : attempts;
  const answerTimeoutMs = Math.max(...plan.chains.map((chain) => chain.answerTimeoutMs));
  return {
    retry_on: commented(
      "TRAP: never 5xx here: it can't be stopped. Only resets, and what the meter asks for by its header.",
      "reset,connect-failure,refused-stream,retriable-headers",
    ),
    retriable_headers: [{ name: "x-llm-breaker-retry", present_match: true }],
    num_retries: canChangeCluster
      ? commented(
          "maxAttempts: the last one may only end at the stop cluster, which answers in JSON.",
          retries,
        )
      : Math.min(retries, 1),
    per_try_timeout: commented(
      "answerTimeout, the longest silence before an answer in one piece; the gate shortens it for streams.",
      `${answerTimeoutMs / 1000}s`,
    ),
    retry_back_off: { base_interval: "0.001s", max_interval: "0.002s" },
    rate_limited_retry_back_off: {
      reset_headers: [{ name: "retry-after", format: "SECONDS" }],
      max_interval: "3s",
    },
    refresh_cluster_on_retry: canChangeCluster
      ? commented("Asks the matcher again for each retry.", true)
      : undefined,
  };
}
