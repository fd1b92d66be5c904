import { CLUSTER_BUFFER_BYTES } from "../../parts/cluster.js";
import { typed } from "../../parts/types.js";
import {
  protocolOptions,
  sinkEndpoint,
  stopCluster,
  type UpstreamPlace,
  upstreamFilters,
  WIDE_LIMITS,
} from "../../parts/upstream.js";
import type { Plan } from "../../plan.js";
import { commented, type YamlMap, type YamlValue } from "../../yaml/value.js";
import { type IstioSettings, proxyVersion } from "./settings.js";
import type { Tier } from "./tiers.js";

const SINK_CLUSTER = "llm.breaker.sink";
const READ_LIMIT = commented(
  "TRAP: bounds one read of a held answer; see the listener's limit.",
  CLUSTER_BUFFER_BYTES,
);
/** The longest silence on a connection that is kept. */
const IDLE_TIMEOUT = "900s";

/** The service's clusters, as Istio calls them. */
export function serviceCluster({ serviceHost }: IstioSettings, port: number): string {
  return `outbound|${port}||${serviceHost}`;
}

/** Patches that make, or change, the clusters of all tiers. */
export function clusterPatches(plan: Plan, tiers: readonly Tier[], settings: IstioSettings): YamlValue[] {
  const patches: YamlValue[] = tiers.map((tier) =>
    commented(
      tier.isPool ? poolComment(tier) : tierComment(tier),
      tier.isPool ? poolPatch(plan, tier, settings) : addition(settings, tierCluster(plan, tier, settings)),
    ),
  );
  patches.push(
    commented(
      "Behind a tier without a host: it refuses the connection, which the meter sees. UNHEALTHY, so that no request comes here while " +
        "the tier has a host.",
      addition(settings, sinkCluster()),
    ),
    commented(
      "Ends a request for which no tier is left: its meter answers with the most telling error there was.",
      addition(settings, stopCluster(settings)),
    ),
  );
  if (plan.service) patches.push(servicePatch(plan.service.grpcPort, settings));
  return patches;
}

function tierComment({ backend, istioCluster }: Tier): string {
  return (
    `Backend ${backend.alias}: our filters stand around Istio's own cluster ${istioCluster}, which stays as it is, with its endpoints, TLS, ` +
    "limits and timeouts; who comes to it by other routes meets none of our filters."
  );
}

function poolComment({ backend, host }: Tier): string {
  return (
    `Backend ${backend.alias}: the InferencePool's cluster itself, since its load balancer has to see what the endpoint picker chose ` +
    `(${host}). TRAP: Istio's own options of this cluster are replaced whole: state here what its DestinationRule says of idleTimeout, ` +
    "maxRequestsPerConnection and the protocol."
  );
}

export function upstreamPlace(plan: Plan, settings: IstioSettings): UpstreamPlace {
  const { wasmFolder } = settings;
  return { wasmFolder, serviceCluster: plan.service && serviceCluster(settings, plan.service.grpcPort) };
}

/** An aggregate runs its own filters, and leaves hosts, connections and their settings to its members. */
function tierCluster(plan: Plan, tier: Tier, settings: IstioSettings): YamlMap {
  const { backend } = tier;
  return {
    name: tier.cluster,
    connect_timeout: "1s",
    lb_policy: "CLUSTER_PROVIDED",
    cluster_type: {
      name: "envoy.clusters.aggregate",
      typed_config: typed("envoy.extensions.clusters.aggregate.v3.ClusterConfig", {
        clusters: [tier.istioCluster, SINK_CLUSTER],
      }),
    },
    metadata: { filter_metadata: { "llm.breaker": backend.metadata, istio: telemetryOf(tier) } },
    per_connection_buffer_limit_bytes: READ_LIMIT,
    circuit_breakers: WIDE_LIMITS,
    typed_extension_protocol_options: protocolOptions(
      upstreamFilters(backend, upstreamPlace(plan, settings)),
      backend.isHttp2,
    ),
  };
}

/** By it Istio's metrics and logs name the destination. */
function telemetryOf({ host }: Tier): YamlMap {
  const [name = host, namespace = "unknown"] = host.endsWith(".svc.cluster.local") ? host.split(".") : [host];
  return { services: [{ host, name, namespace }] };
}

function poolPatch(plan: Plan, { backend, host, port }: Tier, settings: IstioSettings): YamlMap {
  const match = { ...scope(settings), cluster: { service: host, portNumber: port } };
  const options = { common_http_protocol_options: { idle_timeout: IDLE_TIMEOUT } };
  const value = {
    metadata: { filter_metadata: { "llm.breaker": backend.metadata } },
    per_connection_buffer_limit_bytes: READ_LIMIT,
    typed_extension_protocol_options: protocolOptions(
      upstreamFilters(backend, upstreamPlace(plan, settings)),
      backend.isHttp2,
      options,
    ),
  };
  return { applyTo: "CLUSTER", match, patch: { operation: "MERGE", value } };
}

function sinkCluster(): YamlMap {
  const endpoints = [{ lb_endpoints: [sinkEndpoint("UNHEALTHY")] }];
  return {
    name: SINK_CLUSTER,
    type: "STATIC",
    connect_timeout: "1s",
    load_assignment: { cluster_name: SINK_CLUSTER, endpoints },
  };
}

function servicePatch(grpcPort: number, settings: IstioSettings): YamlValue {
  const value = { per_connection_buffer_limit_bytes: 67_108_864 };
  return commented(
    "The service. TRAP: at the default of 1 MiB Envoy can end (SIGSEGV) when answers on their way back from it fill the buffer.",
    {
      applyTo: "CLUSTER",
      match: { ...scope(settings), cluster: { service: settings.serviceHost, portNumber: grpcPort } },
      patch: { operation: "MERGE", value },
    },
  );
}

function addition(settings: IstioSettings, value: YamlMap): YamlMap {
  return { applyTo: "CLUSTER", match: scope(settings), patch: { operation: "ADD", value } };
}

/** Of every patch's match. */
export function scope(settings: IstioSettings): YamlMap {
  return { context: settings.context, proxy: { proxyVersion: proxyVersion(settings) } };
}
