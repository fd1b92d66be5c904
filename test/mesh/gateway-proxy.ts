// What Envoy Gateway 1.9 makes of a Gateway and an HTTPRoute with a rule for each of `hosts`, by its own golden files; RDS and EDS are
// inlined when the patches have been applied.
import type { EnvoyConfig } from "../support/envoy-config.js";
import { applyJsonPatches, type JsonPatch } from "./json-patches.js";

const type = (name: string): string => `type.googleapis.com/${name}`;
const NAME = "llm/llm-gateway/http";

/** `ports`: where each rule's pods are; undefined: there is none. */
export function gatewayProxy(
  route: string,
  ports: readonly (number | undefined)[],
  patches: readonly JsonPatch[],
): { readonly config: EnvoyConfig; readonly faults: readonly string[] } {
  const rules = ports.map((port, rule) => ({ name: `httproute/llm/${route}/rule/${rule}`, port }));
  const resources = {
    Listener: new Map([[NAME, listener()]]),
    RouteConfiguration: new Map([[NAME, routes(rules.map(({ name }) => name))]]),
    Cluster: new Map(rules.map(({ name, port }) => [name, cluster(name, port)])),
  };
  const faults = applyJsonPatches(resources, patches);
  const patched = structuredClone(resources.Listener.get(NAME)) as unknown as ReturnType<typeof listener>;
  for (const { typed_config } of patched.default_filter_chain.filters) {
    Object.assign(typed_config, { rds: undefined, route_config: resources.RouteConfiguration.get(NAME) });
  }
  const config = {
    node: { id: "envoy-llm", cluster: "envoy-llm" },
    admin: { address: address(9901) },
    static_resources: { listeners: [patched], clusters: [...resources.Cluster.values()] },
  };
  return { config: JSON.parse(JSON.stringify(config)) as EnvoyConfig, faults };
}

function address(port: number): EnvoyConfig {
  return { socket_address: { address: "127.0.0.1", port_value: port } };
}

function listener() {
  const manager = {
    "@type": type("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
    stat_prefix: "http-10080",
    access_log: [
      {
        name: "envoy.access_loggers.file",
        typed_config: {
          "@type": type("envoy.extensions.access_loggers.file.v3.FileAccessLog"),
          path: "/dev/null",
        },
      },
    ],
    use_remote_address: true,
    http_filters: [
      {
        name: "envoy.filters.http.cors",
        typed_config: { "@type": type("envoy.extensions.filters.http.cors.v3.Cors") },
      },
      {
        name: "envoy.filters.http.router",
        typed_config: {
          "@type": type("envoy.extensions.filters.http.router.v3.Router"),
          suppress_envoy_headers: true,
        },
      },
    ],
    rds: { route_config_name: NAME },
  };
  return {
    name: NAME,
    address: address(10_080),
    per_connection_buffer_limit_bytes: 32_768,
    default_filter_chain: {
      name: NAME,
      filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }],
    },
  };
}

function routes(rules: readonly string[]): EnvoyConfig {
  const own = rules.map((name, rule) => ({
    name: `${name}/match/0/*`,
    match: {
      prefix: "/",
      ...(rule > 0 && { headers: [{ name: "x-llm-breaker-tier", string_match: { exact: "any" } }] }),
    },
    metadata: {
      filter_metadata: {
        "envoy-gateway": { resources: [{ kind: "HTTPRoute", name: "llm-chat", namespace: "llm" }] },
      },
    },
    route: { cluster: name, upgrade_configs: [{ upgrade_type: "websocket" }] },
  }));
  // The more special go first.
  const virtualHost = { name: `${NAME}/*`, domains: ["*"], routes: own.toReversed() };
  return { name: NAME, ignore_port_in_host_matching: true, virtual_hosts: [virtualHost] };
}

function cluster(name: string, port: number | undefined): EnvoyConfig {
  const endpoints = port === undefined ? [] : [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }];
  return {
    name,
    type: "STATIC",
    connect_timeout: "10s",
    per_connection_buffer_limit_bytes: 32_768,
    lb_policy: "LEAST_REQUEST",
    load_assignment: { cluster_name: name, endpoints },
  };
}
