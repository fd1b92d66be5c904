import type { Plan, PlannedChain } from "../plan.js";
import { commented, type YamlMap } from "../yaml/value.js";
import { wantsOf } from "./filters.js";
import { extension, typed } from "./types.js";
import { STOP_CLUSTER } from "./upstream.js";

const SPECIFIERS = "envoy.extensions.router.cluster_specifiers.matcher.v3";
/** What a route says to have its chain chosen by the model. */
export const BY_MODEL = "by-model";
export const BACKEND_STATE = "wasm.llm.breaker.backend";

/** The chain that a route names in its metadata: of all that have no prefix, and so no route, of their own. */
export function routeChain(plan: Pick<Plan, "chains">): string {
  const [first, ...others] = plan.chains.filter(({ prefix }) => prefix === undefined);
  return first !== undefined && others.length === 0 && first.models.length === 0 ? first.name : BY_MODEL;
}

/** The chain of all requests, for the policy to name; undefined where some have a route, and so a chain, of their own. */
export function onlyChain(plan: Pick<Plan, "chains">): string | undefined {
  return plan.chains.some(({ prefix }) => prefix !== undefined) ? undefined : routeChain(plan);
}

function clusterAction(name: string, cluster: string): YamlMap {
  return { action: extension(name, `${SPECIFIERS}.ClusterAction`, { cluster }) };
}

/** Sends a request to the backend that the gate, or the meter, has named. */
export function clusterMatcher(clusters: ReadonlyMap<string, string>): YamlMap {
  const lines = [...clusters].map(([alias, cluster]) => [alias, clusterAction(alias, cluster)]);
  return extension(MATCHER_NAME, `${SPECIFIERS}.MatcherClusterSpecifier`, {
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
export function retryPolicy(plan: Pick<Plan, "chains">, canChangeCluster: boolean): YamlMap {
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

/** The name by which routes ask for the matcher. */
export const MATCHER_NAME = "llm.breaker";

/** Routes that a listener of ours has, the most special first: one for each chain with a prefix, and one for all others. */
export function routesOf(plan: Plan, canChangeCluster: boolean): YamlMap[] {
  const own = plan.chains.filter(({ prefix }) => prefix !== undefined);
  const others = plan.chains.filter(({ prefix }) => prefix === undefined);
  const special = own
    .toSorted((one, other) => (other.prefix?.length ?? 0) - (one.prefix?.length ?? 0))
    .map((chain) => routeOf(plan, chain.name, chain.prefix ?? "/", [chain], canChangeCluster));
  if (others.length === 0) return special;
  return [...special, routeOf(plan, plan.name, "/", others, canChangeCluster)];
}

function routeOf(
  plan: Plan,
  name: string,
  prefix: string,
  chains: readonly PlannedChain[],
  canChangeCluster: boolean,
): YamlMap {
  const [only] = chains;
  const chain = prefix === "/" ? routeChain(plan) : (only?.name ?? "");
  return {
    name,
    match: { prefix },
    metadata:
      onlyChain(plan) === undefined ? commented(chainComment(chain), chainMetadata(chain)) : undefined,
    typed_per_filter_config: rememberConfig(plan, chains),
    route: {
      timeout: commented("TRAP: 15 seconds for a whole answer by default.", "0s"),
      ...destination(plan, chains),
      retry_policy: retryPolicy({ chains }, canChangeCluster),
    },
  };
}

/** Where the route sends requests: to the matcher, or to the one cluster of a chain with `routing: fixed`. */
export function destination(plan: Plan, chains: readonly PlannedChain[]): YamlMap {
  const [only] = chains;
  if (only === undefined || chains.length > 1 || !only.isFixed)
    return { cluster_specifier_plugin: MATCHER_NAME };
  return { cluster: plan.backends.find(({ alias }) => alias === only.tiers[0])?.cluster };
}

export function chainMetadata(chain: string): YamlMap {
  return { filter_metadata: { "llm.breaker": { chain } } };
}

function chainComment(chain: string): string {
  return chain === BY_MODEL
    ? "The chain is the one whose `models` has the model in the body, else the default chain."
    : "The chain of all its requests.";
}

/** Switches the memory of answers on, where a chain may answer from it. */
export function rememberConfig(plan: Plan, chains: readonly PlannedChain[]): YamlMap | undefined {
  const { remembered } = wantsOf(plan);
  if (!chains.some(({ name }) => remembered.includes(name))) return undefined;
  return { "llm.breaker.remember": typed("envoy.config.route.v3.FilterConfig", { config: {} }) };
}

/** Whether any route asks the matcher for its cluster. */
export function hasMatcher(plan: Plan): boolean {
  return plan.chains.some(({ isFixed }) => !isFixed);
}
