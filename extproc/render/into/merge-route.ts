import { destination, rememberConfig, retryPolicy } from "../parts/routing.js";
import type { Plan } from "../plan.js";
import { mapOf } from "../policy-text.js";
import { commented } from "../yaml/value.js";
import type { ChosenRoute } from "./choose.js";
import { type Fields, type Findings, get, mapIn, nameIn, put, putNew, secondsOf, without } from "./fields.js";

const OURS = "llm.breaker";
/** Other ways to name the cluster, which a matcher can't keep. */
const OTHER_WAYS = ["weighted_clusters", "cluster_header", "inline_cluster_specifier_plugin"];
/** Of a retry policy of theirs: choices of a host, which ours leaves to them. */
const HOST_CHOICES = [
  "retry_host_predicate",
  "host_selection_retry_max_attempts",
  "retry_options_predicates",
];

/** A route of theirs, going to the breaker. */
export function mergeRoute(
  chosen: ChosenRoute,
  plan: Plan,
  canChangeCluster: boolean,
  findings: Findings,
): Fields {
  const { route, chain, chains } = chosen;
  const metadata = mapIn(route.value, "metadata");
  const namespaces = mapIn(metadata, "filter_metadata");
  const named = put(metadata, "filter_metadata", {
    ...namespaces,
    [OURS]: { ...mapOf(namespaces[OURS]), chain },
  });
  const remember = rememberConfig(plan, chains);
  const action = mergeAction(chosen, plan, canChangeCluster, findings);
  let merged = put(put(route.value, "route", action), "metadata", named);
  if (remember !== undefined) {
    merged = put(merged, "typed_per_filter_config", {
      ...mapIn(merged, "typed_per_filter_config"),
      ...remember,
    });
  }
  return merged;
}

function mergeAction(
  { route, chains }: ChosenRoute,
  plan: Plan,
  canChangeCluster: boolean,
  findings: Findings,
): Fields {
  const { value: above, path: routePath } = route;
  const action = mapIn(above, "route");
  const path = [...routePath, "route"];
  for (const way of OTHER_WAYS) {
    if (get(action, way) === undefined) continue;
    findings.fault(
      [...path, nameIn(action, way)],
      `${way} can't go on beside the breaker, which names the cluster: have the route name one cluster`,
    );
  }
  for (const name of ["hedge_policy", "request_mirror_policies"]) {
    if (get(action, name) !== undefined)
      findings.note(
        [...path, nameIn(action, name)],
        `${name}: copies of a request are not the breaker's, and are in no figure`,
      );
  }
  const timeout = get(action, "timeout");
  if (timeout !== undefined && secondsOf(timeout) !== 0) {
    findings.note(
      [...path, "timeout"],
      `timeout ${String(timeout)} bounds a whole answer with all its attempts, and is left as it is; 0s is none`,
    );
  }
  const to = destination(plan, chains);
  const directed = Object.entries(to).reduce<Fields>(
    (fields, [name, value]) => put(fields, name, value),
    redirected(action, to),
  );
  const timed = putNew(
    directed,
    "timeout",
    commented("TRAP: 15 seconds for a whole answer by default.", "0s"),
  );
  return put(timed, "retry_policy", mergeRetries(mapIn(action, "retry_policy"), chains, canChangeCluster));
}

/** The cluster gives way to the matcher, at its place. */
function redirected(action: Fields, to: Fields): Fields {
  return to.cluster === undefined ? without(action, "cluster") : without(action, "cluster_specifier_plugin");
}

function mergeRetries(theirs: Fields, chains: ChosenRoute["chains"], canChangeCluster: boolean): Fields {
  const kept = Object.entries(theirs).filter(([name]) =>
    HOST_CHOICES.some((choice) => nameIn(theirs, choice) === name),
  );
  const ours = retryPolicy({ chains }, canChangeCluster);
  const entries = Object.entries(ours).map(([name, value]) => [nameIn(theirs, name), value]);
  const merged = { ...Object.fromEntries(kept), ...Object.fromEntries(entries) };
  // At the places where theirs stood.
  const order = [...Object.keys(theirs), ...Object.keys(merged)].filter((name) => merged[name] !== undefined);
  return Object.fromEntries([...new Set(order)].map((name) => [name, merged[name]]));
}
