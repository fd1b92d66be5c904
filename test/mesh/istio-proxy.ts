// A configuration as istiod makes it (measured on 1.31), less TLS and the filters that only Istio's own Envoy has.
import type { EnvoyConfig } from "../support/envoy-config.js";

export interface IstioHost {
  readonly host: string;
  /** Of the mesh's registry. */
  readonly port: number;
  /** On this machine; none: the Service has no ready pod. */
  readonly at: number | undefined;
}

const MANAGER = "envoy.filters.network.http_connection_manager";
const type = (name: string): string => `type.googleapis.com/${name}`;
const EXT_PROC = "envoy.extensions.filters.http.ext_proc.v3";
/** Routes to a pool name theirs. */
const NO_PICKER = {
  grpc_service: { envoy_grpc: { cluster_name: "dummy" }, timeout: "10s" },
  failure_mode_allow: true,
  processing_mode: { request_header_mode: "SKIP", response_header_mode: "SKIP" },
};
const ISTIO_RETRIES = {
  retry_on: "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes",
  num_retries: 2,
  retry_host_predicate: [
    {
      name: "envoy.retry_host_predicates.previous_hosts",
      typed_config: {
        "@type": type("envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"),
      },
    },
  ],
  host_selection_retry_max_attempts: 5,
};

/** `first`: where the VirtualService's routes `names` go; `hasPool`: the gateway has the endpoint picker's filter. */
export function istioProxy(
  names: readonly string[],
  first: IstioHost,
  hosts: readonly IstioHost[],
  hasPool = false,
): EnvoyConfig {
  return {
    node: { id: "router~10.0.0.1~llm-gateway.llm~llm.svc.cluster.local", cluster: "llm-gateway.llm" },
    admin: { address: address(9901) },
    static_resources: {
      listeners: [listener(names, clusterName(first), hasPool)],
      clusters: hosts.map(cluster),
    },
  };
}

export function clusterName({ host, port }: IstioHost): string {
  return `outbound|${port}||${host}`;
}

function address(port: number): EnvoyConfig {
  return { socket_address: { address: "127.0.0.1", port_value: port } };
}

function listener(routeNames: readonly string[], cluster: string, hasPool: boolean): EnvoyConfig {
  const filter = (name: string, message: string, more = {}): EnvoyConfig => ({
    name,
    typed_config: { "@type": type(message), ...more },
  });
  const httpFilters = [
    ...(hasPool ? [filter("envoy.filters.http.ext_proc", `${EXT_PROC}.ExternalProcessor`, NO_PICKER)] : []),
    // Istio's own Envoy alone has the real one; patches look for its name.
    filter("istio.alpn", "envoy.extensions.filters.http.fault.v3.HTTPFault"),
    filter("envoy.filters.http.fault", "envoy.extensions.filters.http.fault.v3.HTTPFault"),
    filter("envoy.filters.http.cors", "envoy.extensions.filters.http.cors.v3.Cors"),
    filter("envoy.filters.http.router", "envoy.extensions.filters.http.router.v3.Router"),
  ];
  const manager = filter(
    MANAGER,
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    {
      stat_prefix: "outbound_0.0.0.0_10000",
      stream_idle_timeout: "0s",
      normalize_path: true,
      http_filters: httpFilters,
      route_config: { name: "http.10000", virtual_hosts: [virtualHost(routeNames, cluster)] },
    },
  );
  return { name: "0.0.0.0_10000", address: address(10_000), filter_chains: [{ filters: [manager] }] };
}

function virtualHost(routeNames: readonly string[], cluster: string): EnvoyConfig {
  const metadata = {
    filter_metadata: { istio: { config: "/apis/networking.istio.io/v1/virtual-service/llm" } },
  };
  const leads = { cluster, timeout: "0s", retry_policy: ISTIO_RETRIES, max_grpc_timeout: "0s" };
  return {
    name: "llm.example.com:80",
    domains: ["*"],
    include_request_attempt_count: true,
    routes: [
      { name: "others", match: { prefix: "/healthz" }, direct_response: { status: 204 } },
      ...routeNames.map((name) => ({
        name,
        match: { prefix: "/" },
        metadata,
        route: leads,
        decorator: { operation: "llm:80/*" },
      })),
    ],
  };
}

function cluster({ host, port, at }: IstioHost): EnvoyConfig {
  const name = clusterName({ host, port, at });
  const widest = 4_294_967_295;
  const limits = {
    max_connections: widest,
    max_pending_requests: widest,
    max_requests: widest,
    max_retries: widest,
  };
  return {
    name,
    type: "STATIC",
    connect_timeout: "10s",
    circuit_breakers: { thresholds: [{ ...limits, track_remaining: true }] },
    metadata: {
      filter_metadata: { istio: { services: [{ host, name: host.split(".")[0], namespace: "llm" }] } },
    },
    load_assignment: {
      cluster_name: name,
      endpoints: at === undefined ? [] : [{ lb_endpoints: [{ endpoint: { address: address(at) } }] }],
    },
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": type("envoy.extensions.upstreams.http.v3.HttpProtocolOptions"),
        common_http_protocol_options: { idle_timeout: "300s" },
        explicit_http_config:
          /llm-breaker/.test(host) && port === 9002
            ? { http2_protocol_options: {} }
            : { http_protocol_options: {} },
      },
    },
  };
}
