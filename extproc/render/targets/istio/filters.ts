import { downstreamFilters, wantsOf } from "../../parts/filters.js";
import { LISTENER_BUFFER_BYTES } from "../../parts/listener.js";
import { jsonReplies, usageLog } from "../../parts/replies.js";
import { onlyChain } from "../../parts/routing.js";
import { typed } from "../../parts/types.js";
import type { Plan } from "../../plan.js";
import { policyNaming, policyWith } from "../../policy-text.js";
import { Commented, commented, type YamlMap, type YamlValue } from "../../yaml/value.js";
import { scope, serviceCluster, upstreamPlace } from "./clusters.js";
import type { IstioSettings } from "./settings.js";
import type { Tier } from "./tiers.js";

const MANAGER = "envoy.filters.network.http_connection_manager";
const MANAGER_TYPE = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
/** On our routes only. */
const OURS = "xds.route_metadata.filter_metadata['llm.breaker'].chain != ''";

/** Ours, in their order. */
export function ourFilters(
  plan: Plan,
  tiers: readonly Tier[],
  settings: IstioSettings,
): readonly { readonly comment: string; readonly filter: YamlMap }[] {
  const clusters = new Map(tiers.map(({ backend, cluster }) => [backend.alias, cluster]));
  const http = plan.service ? serviceCluster(settings, plan.service.httpPort) : "";
  const policy = policyNaming(
    policyWith(plan.policy, (alias) => clusters.get(alias) ?? alias, http),
    onlyChain(plan),
  );
  const filters = downstreamFilters({ ...plan, policy }, upstreamPlace(plan, settings));
  return filters.map((each) =>
    each instanceof Commented
      ? { comment: each.comment, filter: each.value as YamlMap }
      : { comment: "", filter: each as YamlMap },
  );
}

export function filterPatches(plan: Plan, tiers: readonly Tier[], settings: IstioSettings): YamlValue[] {
  const { anchor } = settings;
  const [gate, ...others] = ourFilters(plan, tiers, settings);
  const { serviceCluster: grpc } = upstreamPlace(plan, settings);
  const patches = others.map(({ comment, filter }) => commented(comment, insertion(settings, filter)));
  if (gate) {
    const where =
      `Before ${anchor}, which looks at the route's cluster once: behind it the gate's choice would come too late. \`disabled\`: it is ` +
      "on for the routes below, and nowhere else.";
    patches.unshift(commented(`${gate.comment} ${where}`, insertion(settings, gate.filter)));
  }
  return [
    ...patches,
    commented(
      "Replies that Envoy makes itself become JSON with Retry-After, on our routes.",
      managerPatch(settings, {
        local_reply_config: jsonReplies(OURS),
        access_log: grpc !== undefined && wantsOf(plan).limits ? [usageLog(grpc)] : undefined,
      }),
    ),
    {
      applyTo: "LISTENER",
      match: { ...scope(settings), listener: listenerOf(settings) },
      patch: { operation: "MERGE", value: { per_connection_buffer_limit_bytes: LISTENER_BUFFER_BYTES } },
    },
  ];
}

function listenerOf({ port }: IstioSettings, filter?: YamlMap): YamlMap {
  const filterChain = filter && { filter };
  return { portNumber: port, filterChain };
}

function insertion(settings: IstioSettings, filter: YamlMap): YamlMap {
  const { name, ...others } = filter;
  const subFilter = { name: settings.anchor };
  return {
    applyTo: "HTTP_FILTER",
    match: { ...scope(settings), listener: listenerOf(settings, { name: MANAGER, subFilter }) },
    patch: { operation: "INSERT_BEFORE", value: { name, disabled: true, ...others } },
  };
}

function managerPatch(settings: IstioSettings, value: YamlMap): YamlMap {
  return {
    applyTo: "NETWORK_FILTER",
    match: { ...scope(settings), listener: listenerOf(settings, { name: MANAGER }) },
    patch: { operation: "MERGE", value: { name: MANAGER, typed_config: typed(MANAGER_TYPE, value) } },
  };
}
