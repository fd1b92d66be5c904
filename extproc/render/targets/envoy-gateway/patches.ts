import { downstreamFilters, wantsOf } from "../../parts/filters.js";
import { LISTENER_BUFFER_BYTES, REQUEST_BODY_LIMIT, RETRY_HEADER } from "../../parts/listener.js";
import { jsonReplies, limitHeaders, usageLog } from "../../parts/replies.js";
import { clusterMatcher, retryPolicy } from "../../parts/routing.js";
import { ASKED_CLUSTER, serviceClusters } from "../../parts/service.js";
import { stopCluster, type UpstreamPlace } from "../../parts/upstream.js";
import type { Plan } from "../../plan.js";
import { policyWith, SERVICE_CLUSTER } from "../../policy-text.js";
import { Commented, commented, type YamlMap, type YamlValue } from "../../yaml/value.js";
import { plannedRoutes } from "../mesh/routes.js";
import type { GatewaySettings } from "./settings.js";
import { type GatewayTier, ruleName, sinkCluster, tierCluster } from "./tiers.js";

const TYPES = "type.googleapis.com/envoy.config";
const LISTENER = `${TYPES}.listener.v3.Listener`;
const ROUTES = `${TYPES}.route.v3.RouteConfiguration`;
const CLUSTER = `${TYPES}.cluster.v3.Cluster`;
const ROUTER = "..http_filters[?(@.name=='envoy.filters.http.router')]";
const MANAGER = "..filters[?(@.name=='envoy.filters.network.http_connection_manager')]";
/** On our routes only. */
const OURS = "xds.route_metadata.filter_metadata['llm.breaker'].chain != ''";

/** Patches in the order in which they are applied. */
export function patchesFor(
  plan: Plan,
  tiers: readonly GatewayTier[],
  settings: GatewaySettings,
): YamlValue[] {
  const service = plan.service && { ...plan.service, host: settings.serviceHost };
  const place = { wasmFolder: settings.wasmFolder, serviceCluster: service && ASKED_CLUSTER };
  const clusters: YamlMap[] = [
    ...tiers.map((tier) => tierCluster(tier, plan, place, settings)),
    sinkCluster(),
    stopCluster(place),
    ...(service ? serviceClusters(service) : []),
  ];
  return [
    ...clusters.map((value) => commented(clusterComment(String(value.name), tiers), added(value))),
    ...listenerPatches(plan, tiers, place, settings),
    ...routePatches(plan, tiers, settings),
  ];
}

function clusterComment(name: string, tiers: readonly GatewayTier[]): string {
  const tier = tiers.find(({ cluster }) => cluster === name);
  if (tier?.inCluster !== undefined) {
    return `Backend ${tier.backend.alias}: our filters stand around Envoy Gateway's own cluster, which stays as it is; where that has no pod, the sink refuses.`;
  }
  return tier ? `Backend ${tier.backend.alias}: a server elsewhere.` : "Ours.";
}

/** A whole new resource. */
function added(value: YamlMap): YamlMap {
  return { type: CLUSTER, name: String(value.name), operation: { op: "add", path: "", value } };
}

function listenerPatches(
  plan: Plan,
  tiers: readonly GatewayTier[],
  place: UpstreamPlace,
  settings: GatewaySettings,
): YamlValue[] {
  const clusters = new Map(tiers.map(({ backend, cluster }) => [backend.alias, cluster]));
  const policy = policyWith(plan.policy, (alias) => clusters.get(alias) ?? alias, SERVICE_CLUSTER);
  const onListener = (operation: YamlMap): YamlMap => ({
    type: LISTENER,
    name: resourceName(settings),
    operation,
  });
  const filters = downstreamFilters({ ...plan, policy }, place).map((each) => {
    const [comment, value] = each instanceof Commented ? [each.comment, each.value] : ["", each];
    return commented(
      `${comment} Before the router, behind Envoy Gateway's own filters.`,
      onListener({ op: "add", jsonPath: ROUTER, value }),
    );
  });
  const ofManager = (path: string, value: YamlValue): YamlMap =>
    onListener({ op: "add", jsonPath: MANAGER, path: `/typed_config/${path}`, value });
  const { limits } = wantsOf(plan);
  return [
    ...filters,
    ofManager("local_reply_config", jsonReplies(OURS)),
    ofManager(
      "stream_idle_timeout",
      commented("TRAP: 5 minutes of silence would end a long answer.", "900s"),
    ),
    ...(limits && place.serviceCluster !== undefined
      ? [ofManager("access_log/-", usageLog(place.serviceCluster))]
      : []),
    onListener({ op: "add", path: "/per_connection_buffer_limit_bytes", value: LISTENER_BUFFER_BYTES }),
  ];
}

function routePatches(plan: Plan, tiers: readonly GatewayTier[], settings: GatewaySettings): YamlValue[] {
  const onRoutes = (operation: YamlMap): YamlMap => ({
    type: ROUTES,
    name: resourceName(settings),
    operation,
  });
  const ofRoute = (path: string, operation: YamlMap): YamlMap =>
    onRoutes({ jsonPath: routesOf(plan, 0, settings), path, ...operation });
  const [route] = plannedRoutes(plan).slice(-1);
  const clusters = new Map(tiers.map(({ backend, cluster }) => [backend.alias, cluster]));
  const later = tiers.flatMap(({ inCluster }) => (inCluster && inCluster.rule > 0 ? [inCluster.rule] : []));
  if (route === undefined) return [];
  return [
    commented(
      "The route: to the backend that the gate, or the meter, has named.",
      ofRoute("/route/cluster", { op: "remove" }),
    ),
    ofRoute("/route/inline_cluster_specifier_plugin", {
      op: "add",
      value: { extension: clusterMatcher(clusters) },
    }),
    ofRoute("/route/retry_policy", { op: "add", value: retryPolicy(route, settings.canChangeCluster) }),
    ofRoute("/route/timeout", {
      op: "add",
      value: commented("TRAP: 15 seconds for a whole answer by default.", "0s"),
    }),
    ofRoute("/request_body_buffer_limit", { op: "add", value: REQUEST_BODY_LIMIT }),
    ofRoute("/metadata/filter_metadata/llm.breaker", { op: "add", value: { chain: route.chain } }),
    onRoutes({ op: "add", path: "/response_headers_to_remove", value: [RETRY_HEADER] }),
    ...(wantsOf(plan).limits
      ? [onRoutes({ op: "add", path: "/response_headers_to_add", value: limitHeaders() })]
      : []),
    ...later.map((rule) =>
      commented(
        "TRAP: the rule is there for its cluster alone. Its route goes, or a caller could choose the tier by the header.",
        onRoutes({ op: "remove", jsonPath: routesOf(plan, rule, settings) }),
      ),
    ),
  ];
}

/** Routes of one rule of our HTTPRoute, whatever their matches and host names. */
function routesOf(plan: Plan, rule: number, settings: GatewaySettings): string {
  return `..routes[?match(@.name, '${ruleName(plan, rule, settings)}/match/.*')]`;
}

/** Listener and RouteConfiguration have one name. */
function resourceName({ namespace, gateway, listener }: GatewaySettings): string {
  return `${namespace}/${gateway}/${listener}`;
}
