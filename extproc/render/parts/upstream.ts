import type { PlannedBackend } from "../plan.js";
import type { YamlMap } from "../yaml/value.js";
import { credentialFilter, rewriteFilter, whereDegraded } from "./asked.js";
import { extension, typed } from "./types.js";
import { meterFilter, type WasmPlace, wasmFilter } from "./wasm.js";

const OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

export interface UpstreamPlace extends WasmPlace {
  /** The service's gRPC cluster; undefined where nothing needs it. */
  readonly serviceCluster: string | undefined;
}

export const codecFilter: YamlMap = extension(
  "envoy.filters.http.upstream_codec",
  "envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec",
);

/** What stands on a backend's cluster, in its order. */
export function upstreamFilters(backend: PlannedBackend, place: UpstreamPlace): readonly YamlMap[] {
  const { credential, rewritesBody, degradesBody } = backend;
  const filters = [meterFilter(place, backend.metadata)];
  if (place.serviceCluster !== undefined) {
    const rewrite = rewriteFilter(place.serviceCluster);
    if (rewritesBody) filters.push(rewrite, wasmFilter("guard", place));
    // No guard: a request that was not cut down may pass.
    else if (degradesBody) filters.push(whereDegraded(rewrite));
  }
  if (credential) filters.push(credentialFilter(credential));
  return [...filters, codecFilter];
}

/** `further` are fields of the same message. */
export function protocolOptions(
  filters: readonly YamlMap[],
  isHttp2: boolean,
  further: YamlMap = {},
): YamlMap {
  const protocol = isHttp2 ? "http2_protocol_options" : "http_protocol_options";
  return {
    [OPTIONS]: typed(OPTIONS, {
      explicit_http_config: { [protocol]: {} },
      ...further,
      http_filters: filters,
    }),
  };
}

/** A host that refuses every connection, which the meter sees; where there is no host at all no filter runs. */
export function sinkEndpoint(healthStatus?: "UNHEALTHY"): YamlMap {
  return {
    endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: 1 } } },
    health_status: healthStatus,
    metadata: { filter_metadata: { "llm.breaker": { sink: "true" } } },
  };
}

/** Every retry holds a slot at the first cluster until its first token; Envoy's default would stop failover at the fourth caller. */
export const WIDE_LIMITS: YamlMap = {
  thresholds: ["DEFAULT", "HIGH"].map((priority) => ({
    priority,
    max_connections: 100_000,
    max_pending_requests: 100_000,
    max_requests: 100_000,
    max_retries: 100_000,
  })),
};

export const STOP_CLUSTER = "llm.breaker.stop";

/** Ends a request for which no tier is left: its meter answers with the most telling error there was. */
export function stopCluster(place: WasmPlace): YamlMap {
  return {
    name: STOP_CLUSTER,
    type: "STATIC",
    connect_timeout: "1s",
    circuit_breakers: WIDE_LIMITS,
    load_assignment: { cluster_name: STOP_CLUSTER, endpoints: [{ lb_endpoints: [sinkEndpoint()] }] },
    typed_extension_protocol_options: protocolOptions([wasmFilter("meter", place), codecFilter], false),
  };
}
