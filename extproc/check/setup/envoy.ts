import type { Located } from "../tree/located.js";
import { filtersOf, type HttpFilter } from "./filters.js";
import { type ToldCluster, toldCluster } from "./told-cluster.js";

/** The breaker's namespace in metadata. */
export const NAMESPACE = "llm.breaker";
export const STOP_CLUSTER = "llm.breaker.stop";
/** As the shipped files call the filter. */
const GATE = "llm.breaker.gate";
export const RETRY_HEADER = "x-llm-breaker-retry";
/** Envoy's, for listeners and clusters alike. */
export const DEFAULT_BUFFER_LIMIT = 1_048_576;

/** A resource whose rest is someone else's: a mesh merges ours into it. */
export interface Part {
  readonly at: Located;
  /** Only some of it is here. */
  readonly isPart: boolean;
}

export interface Connections extends Part {
  /** An HTTP connection manager's filters, in order. */
  readonly filters: readonly HttpFilter[];
  readonly bufferLimit: number | undefined;
  readonly routes: Located | undefined;
  readonly routesName: string | undefined;
}

export interface Route extends Part {
  readonly name: string;
  /** `route` of the route. */
  readonly action: Located;
  /** The one that holds: the route's own, else its host's. */
  readonly retryPolicy: Located | undefined;
  readonly host: Located | undefined;
  readonly table: Located | undefined;
  /** What the breaker's metadata say. */
  readonly chain: Located | undefined;
  readonly routeClass: Located | undefined;
  /** The route, or its host, disables the gate. */
  readonly passesGate: boolean;
  /** The matcher that its cluster comes from, if it is one. */
  readonly matcher: Matcher | undefined;
}

export interface Matcher {
  readonly at: Located;
  readonly stateKey: string | undefined;
  /** Cluster by what the filter state says. */
  readonly clusters: ReadonlyMap<string, Located>;
  readonly otherwise: Located | undefined;
}

export interface Cluster extends Part {
  readonly name: string;
  /** Of the breaker's namespace. */
  readonly metadata: ReadonlyMap<string, Located>;
  /** What its meter is told in place of the metadata. */
  readonly told: ToldCluster | undefined;
  /** The backend it says it is, else its name. */
  readonly alias: string;
  readonly filters: readonly HttpFilter[];
  readonly options: Located | undefined;
}

export function readConnections(at: Located, listener: Located | undefined): Connections {
  return {
    at,
    isPart: false,
    filters: filtersOf(at.list("http_filters")),
    bufferLimit: listener?.numberOf("per_connection_buffer_limit_bytes"),
    routes: at.get("route_config"),
    routesName: at.textOf("rds", "route_config_name"),
  };
}

/** Every connection manager of a listener. */
export function connectionsOf(listener: Located): Connections[] {
  const chains = [...listener.list("filter_chains"), ...[listener.get("default_filter_chain") ?? []].flat()];
  return chains.flatMap((chain) =>
    chain.list("filters").flatMap((filter) => {
      const config = filter.get("typed_config");
      return config?.type === "HttpConnectionManager" ? readConnections(config, listener) : [];
    }),
  );
}

export function routesOf(table: Located): Route[] {
  return table.list("virtual_hosts").flatMap((host) =>
    host.list("routes").flatMap((route) => {
      const action = route.get("route");
      return action === undefined ? [] : readRoute(route, action, { host, table });
    }),
  );
}

export function readRoute(
  at: Located,
  action: Located,
  { host, table, isPart = false }: { host?: Located; table?: Located; isPart?: boolean },
): Route {
  const metadata = at.get("metadata", "filter_metadata")?.at(NAMESPACE);
  return {
    at,
    isPart,
    name: at.textOf("name") ?? "without name",
    action,
    retryPolicy: action.get("retry_policy") ?? host?.get("retry_policy"),
    host,
    table,
    chain: metadata?.at("chain"),
    passesGate: [at, host].some(
      (each) => each?.get("typed_per_filter_config", GATE)?.textOf("disabled") === "true",
    ),
    routeClass: metadata?.at("class"),
    matcher: matcherOf(action, table),
  };
}

function matcherOf(action: Located, table: Located | undefined): Matcher | undefined {
  const named = action.textOf("cluster_specifier_plugin");
  const plugins = table?.list("cluster_specifier_plugins") ?? [];
  const plugin =
    action.get("inline_cluster_specifier_plugin") ??
    plugins.find((each) => each.textOf("extension", "name") === named && named !== undefined);
  const config = plugin?.get("extension", "typed_config");
  if (config?.type !== "MatcherClusterSpecifier") return undefined;
  const matcher = config.get("cluster_matcher");
  const tree = matcher?.get("matcher_tree");
  return {
    at: config,
    stateKey: tree?.textOf("input", "typed_config", "key"),
    clusters: new Map(
      [...(tree?.get("exact_match_map", "map")?.fields ?? [])].map(([name, each]) => [
        name,
        clusterOf(each) ?? each,
      ]),
    ),
    otherwise:
      matcher?.get("on_no_match") && (clusterOf(matcher.get("on_no_match")) ?? matcher.get("on_no_match")),
  };
}

function clusterOf(match: Located | undefined): Located | undefined {
  return match?.get("action", "typed_config", "cluster");
}

export function readCluster(at: Located, name = at.textOf("name") ?? "", isPart = false): Cluster {
  const options = [...(at.get("typed_extension_protocol_options")?.fields.values() ?? [])].find(
    ({ type }) => type === "HttpProtocolOptions",
  );
  const metadata = at.get("metadata", "filter_metadata")?.at(NAMESPACE)?.fields ?? new Map<string, Located>();
  const filters = filtersOf(options?.list("http_filters") ?? []);
  const told = toldCluster(filters);
  return {
    at,
    isPart,
    name,
    metadata,
    told,
    alias: told?.keys.get("backend")?.text ?? metadata.get("backend")?.text ?? name,
    filters,
    options,
  };
}

/** Real hosts by priority; what only discovery knows is not among them. */
export function endpointsOf(cluster: Cluster): { readonly priority: number; readonly at: Located }[] {
  return cluster.at
    .list("load_assignment", "endpoints")
    .flatMap((locality) =>
      locality.list("lb_endpoints").map((at) => ({ priority: locality.numberOf("priority") ?? 0, at })),
    );
}
