import type { EnvoyConfig } from "../../support/envoy-config.js";

/** The parts of the shipped YAML files that tests change. */
export interface ShippedConfig {
  node: Record<string, unknown>;
  dynamic_resources?: unknown;
  static_resources: { listeners: Listener[]; clusters: Cluster[] };
}

export interface Listener {
  connection_balance_config?: unknown;
  filter_chains: { filters: { typed_config: ConnectionManager }[] }[];
}

export interface ConnectionManager {
  upgrade_configs?: unknown;
  request_headers_timeout?: string;
  http_filters: Filter[];
  route_config: { cluster_specifier_plugins?: ClusterSpecifier[]; virtual_hosts: VirtualHost[] };
}

/** Chooses a backend's cluster by its name. */
interface ClusterSpecifier {
  extension: {
    typed_config: {
      cluster_matcher: {
        matcher_tree: { exact_match_map: { map: Record<string, { action: ClusterAction }> } };
      };
    };
  };
}

interface ClusterAction {
  name: string;
  typed_config: { cluster: string };
}

export interface VirtualHost {
  retry_policy?: Record<string, unknown>;
  routes: Route[];
}

export interface Filter {
  name: string;
  typed_config?: Record<string, unknown>;
  config_discovery?: unknown;
}

export interface Route {
  match: Record<string, unknown>;
  metadata?: { filter_metadata: { "llm.breaker": { chain: string } } };
  route?: {
    cluster?: string;
    [key: string]: unknown;
  };
  [key: string]: unknown;
}

export interface Cluster {
  name: string;
  circuit_breakers?: unknown;
  metadata: { filter_metadata: { "llm.breaker": Record<string, string> } };
  load_assignment: { endpoints: { lb_endpoints: unknown[] }[] };
  typed_extension_protocol_options: Record<string, ProtocolOptions>;
}

export interface ProtocolOptions {
  explicit_http_config: Record<string, unknown>;
  http_filters: Filter[];
}

export interface PolicyJson {
  name: string;
  chain?: string;
  service?: { cluster: string };
  breaker: Record<string, unknown>;
  backends: Record<string, Record<string, unknown>>;
  chains: Record<string, Record<string, unknown>>;
}

export function shipped(config: EnvoyConfig): ShippedConfig {
  return config as unknown as ShippedConfig;
}

export function connectionManager(config: ShippedConfig): ConnectionManager {
  return found(config.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config, "listener");
}

export function routeOf(config: ShippedConfig): Route {
  return found(connectionManager(config).route_config.virtual_hosts[0]?.routes[0], "route");
}

/** How requests of all routes are tried again; nothing in minimal.yaml, which has no next tier. */
export function retryPolicyOf(config: ShippedConfig): Record<string, unknown> | undefined {
  return connectionManager(config).route_config.virtual_hosts[0]?.retry_policy;
}

/** A further route before the shipped one: the same but for its prefix and chain. */
export function addRoute(config: ShippedConfig, prefix: string, chain: string): void {
  nameChainsByRoute(config);
  const route = { ...structuredClone(routeOf(config)), match: { prefix } };
  route.metadata = { filter_metadata: { "llm.breaker": { chain } } };
  connectionManager(config).route_config.virtual_hosts[0]?.routes.unshift(route);
}

/** Each route names its own chain from now on; the shipped ones, which had the policy's, name that. */
export function nameChainsByRoute(config: ShippedConfig): void {
  const gate = gateOf(config);
  const { chain, ...policy } = policyOf(gate);
  if (chain === undefined) return;
  setPolicyText(gate, JSON.stringify(policy));
  for (const { routes } of connectionManager(config).route_config.virtual_hosts)
    for (const route of routes) {
      const ours = { ...route.metadata?.filter_metadata["llm.breaker"], chain };
      route.metadata = { filter_metadata: { "llm.breaker": ours } };
    }
}

export function clusterOf(config: ShippedConfig, name: string): Cluster {
  return found(
    config.static_resources.clusters.find((cluster) => cluster.name === name),
    name,
  );
}

/** Other metadata for a cluster, and for its meter, which is told the same by a YAML anchor. */
export function describeCluster(config: ShippedConfig, name: string, keys: Record<string, string>): void {
  const present = clusterOf(config, name).metadata.filter_metadata["llm.breaker"];
  for (const key of Object.keys(present)) delete present[key];
  Object.assign(present, keys);
}

export function protocolOf(cluster: Cluster): ProtocolOptions {
  return found(Object.values(cluster.typed_extension_protocol_options)[0], "protocol options");
}

export function gateOf(config: ShippedConfig): Filter {
  return found(
    connectionManager(config).http_filters.find(({ name }) => name === "llm.breaker.gate"),
    "gate",
  );
}

/** A copy of a shipped cluster as another backend that routes can go to; at another port if one is given. */
export function addBackend(config: ShippedConfig, name: string, like: string, port?: number): void {
  const cluster: Cluster = structuredClone(clusterOf(config, like));
  cluster.name = name;
  Object.assign(cluster.load_assignment, { cluster_name: name });
  cluster.metadata.filter_metadata["llm.breaker"].backend = name;
  if (port !== undefined) {
    const address = { socket_address: { address: "127.0.0.1", port_value: port } };
    cluster.load_assignment.endpoints[0] = { lb_endpoints: [{ endpoint: { address } }] };
  }
  config.static_resources.clusters.push(cluster);
  const [plugin] = connectionManager(config).route_config.cluster_specifier_plugins ?? [];
  const { map } = found(plugin, "specifier").extension.typed_config.cluster_matcher.matcher_tree
    .exact_match_map;
  const { typed_config } = found(map[like], like).action;
  map[name] = { action: { name, typed_config: { ...typed_config, cluster: name } } };
}

interface GateConfig {
  config: { configuration: { value: string } };
}

export function policyOf(gate: Filter): PolicyJson {
  return JSON.parse((gate.typed_config as unknown as GateConfig).config.configuration.value) as PolicyJson;
}

export function setPolicyText(gate: Filter, text: string): void {
  (gate.typed_config as unknown as GateConfig).config.configuration.value = text;
}

export function chainOf(policy: PolicyJson): Record<string, unknown> {
  return found(policy.chains.chat, "chain");
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined)
    throw new Error(`the shipped configuration has no ${what} where tests look for it`);
  return value;
}
