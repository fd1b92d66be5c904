import { CliError } from "../../../cli-error.js";
import { backendCluster, CLUSTER_BUFFER_BYTES, metadataOf } from "../../parts/cluster.js";
import { typed } from "../../parts/types.js";
import {
  protocolOptions,
  sinkEndpoint,
  type UpstreamPlace,
  upstreamFilters,
  WIDE_LIMITS,
} from "../../parts/upstream.js";
import type { Plan, PlannedBackend } from "../../plan.js";
import type { YamlMap } from "../../yaml/value.js";
import { type GatewaySettings, type InCluster, serviceOf } from "./settings.js";

export const SINK_CLUSTER = "llm.breaker.sink";

export interface GatewayTier {
  readonly backend: PlannedBackend;
  /** The cluster that requests go to. */
  readonly cluster: string;
  /** Of Envoy Gateway's own making: its rule in the HTTPRoute. */
  readonly inCluster: { readonly service: InCluster; readonly rule: number } | undefined;
}

/** Rules by tier: all that one rule names would become one cluster. */
export function gatewayTiers(plan: Plan, settings: GatewaySettings): readonly GatewayTier[] {
  let rule = 0;
  const tiers = plan.backends.map((backend) => {
    const service = serviceOf(backend, settings.namespace);
    const inCluster = service && { service, rule: rule++ };
    return { backend, cluster: `llm.breaker.tier.${backend.alias}`, inCluster };
  });
  if (rule > 0) return tiers;
  throw new CliError(
    2,
    "Envoy Gateway needs a Service of the cluster for its route: no backend is one. Use --target kubernetes",
  );
}

export function tierCluster(
  tier: GatewayTier,
  plan: Plan,
  place: UpstreamPlace,
  settings: GatewaySettings,
): YamlMap {
  const { backend, cluster, inCluster } = tier;
  if (inCluster === undefined && backend.url !== undefined) {
    return backendCluster({ ...backend, cluster }, backend.url, place);
  }
  return {
    name: cluster,
    connect_timeout: "1s",
    lb_policy: "CLUSTER_PROVIDED",
    cluster_type: {
      name: "envoy.clusters.aggregate",
      typed_config: typed("envoy.extensions.clusters.aggregate.v3.ClusterConfig", {
        clusters: [`${ruleName(plan, inCluster?.rule ?? 0, settings)}`, SINK_CLUSTER],
      }),
    },
    metadata: metadataOf(backend),
    per_connection_buffer_limit_bytes: CLUSTER_BUFFER_BYTES,
    circuit_breakers: WIDE_LIMITS,
    typed_extension_protocol_options: protocolOptions(upstreamFilters(backend, place), backend.isHttp2),
  };
}

export function routeObjectName(plan: Plan): string {
  return `llm-${plan.name}`;
}

/** Envoy Gateway's name of a rule's cluster, and the beginning of its routes' names. */
export function ruleName(plan: Plan, rule: number, { namespace }: GatewaySettings): string {
  return `httproute/${namespace}/${routeObjectName(plan)}/rule/${rule}`;
}

export function sinkCluster(): YamlMap {
  return {
    name: SINK_CLUSTER,
    type: "STATIC",
    connect_timeout: "1s",
    load_assignment: {
      cluster_name: SINK_CLUSTER,
      endpoints: [{ lb_endpoints: [sinkEndpoint("UNHEALTHY")] }],
    },
  };
}
