// What istiod does with an EnvoyFilter, for the operations that ours have: pilot/pkg/networking/core/envoyfilter and pkg/proto/merge.
import type { EnvoyConfig } from "../support/envoy-config.js";

type Fields = Record<string, unknown>;

interface Patch {
  readonly applyTo: string;
  readonly match: {
    readonly context: string;
    readonly proxy?: { readonly proxyVersion: string };
    readonly listener?: {
      readonly portNumber?: number;
      readonly filterChain?: {
        readonly filter: { readonly name: string; readonly subFilter?: { readonly name: string } };
      };
    };
    readonly cluster?: { readonly service?: string; readonly portNumber?: number };
    readonly routeConfiguration?: { readonly vhost: { readonly route: { readonly name: string } } };
  };
  readonly patch: { readonly operation: string; readonly value: Fields };
}

export interface EnvoyFilter {
  readonly kind: "EnvoyFilter";
  readonly spec: { readonly configPatches: readonly Patch[] };
}

interface Proxy {
  readonly version: string;
  readonly context: string;
}

interface Manager extends Fields {
  http_filters: Fields[];
  route_config: { virtual_hosts: { routes: Fields[] }[] };
}

interface Listener extends Fields {
  filter_chains: { filters: { name: string; typed_config: Manager }[] }[];
  address: { socket_address: { port_value: number } };
}

const EMPTY = "type.googleapis.com/google.protobuf.Empty";
/** Entries of these are replaced whole. */
const MAPS = new Set(["filter_metadata", "typed_per_filter_config", "typed_extension_protocol_options"]);
/** Setting one clears the others. */
const CLUSTER_SPECIFIERS = [
  "cluster",
  "weighted_clusters",
  "cluster_header",
  "inline_cluster_specifier_plugin",
];

/** Which of the filter's patches found something to change. */
export function applyEnvoyFilter(config: EnvoyConfig, filter: EnvoyFilter, proxy: Proxy): readonly boolean[] {
  const patches = asMessages(filter.spec.configPatches) as readonly Patch[];
  const resources = config.static_resources as { listeners: Listener[]; clusters: Fields[] };
  return patches.map((patch) => {
    if (patch.match.context !== proxy.context) return false;
    if (!new RegExp(patch.match.proxy?.proxyVersion ?? "").test(proxy.version)) return false;
    switch (patch.applyTo) {
      case "CLUSTER":
        return patchClusters(resources.clusters, patch);
      case "LISTENER":
        return (
          listenersOf(resources.listeners, patch).map((each) => merge(each, patch.patch.value)).length > 0
        );
      case "NETWORK_FILTER":
        return (
          managersOf(resources.listeners, patch).map(({ filter: each }) => merge(each, patch.patch.value))
            .length > 0
        );
      case "HTTP_FILTER":
        return managersOf(resources.listeners, patch)
          .map(({ manager }) => insertFilter(manager, patch))
          .includes(true);
      case "HTTP_ROUTE":
        return managersOf(resources.listeners, patch)
          .map(({ manager }) => patchRoutes(manager, patch))
          .includes(true);
      default:
        throw new Error(`applyTo ${patch.applyTo}`);
    }
  });
}

/** istiod reads Go's JSON, where an Empty in an Any has a `value`, and sends bytes; Envoy's own JSON has no such field. */
function asMessages(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(asMessages);
  if (!isMessage(node)) return node;
  if (node["@type"] === EMPTY && "value" in node) return { "@type": EMPTY };
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, asMessages(value)]));
}

function patchClusters(clusters: Fields[], { match, patch }: Patch): boolean {
  if (patch.operation === "ADD") return clusters.push(structuredClone(patch.value)) > 0;
  const { service, portNumber } = match.cluster ?? {};
  const found = clusters.filter(({ name }) => {
    const [direction, port, , host] = String(name).split("|");
    return (
      direction === "outbound" &&
      host === service &&
      (portNumber === undefined || Number(port) === portNumber)
    );
  });
  for (const each of found) merge(each, patch.value);
  return found.length > 0;
}

function listenersOf(listeners: readonly Listener[], { match }: Patch): readonly Listener[] {
  const port = match.listener?.portNumber;
  return listeners.filter((each) => port === undefined || each.address.socket_address.port_value === port);
}

function managersOf(listeners: readonly Listener[], patch: Patch): { filter: Fields; manager: Manager }[] {
  const wanted = patch.match.listener?.filterChain?.filter.name;
  return listenersOf(listeners, patch).flatMap(({ filter_chains }) =>
    filter_chains
      .flatMap(({ filters }) => filters)
      .filter(({ name }) => wanted === undefined || name === wanted)
      .map((filter) => ({ filter: filter as unknown as Fields, manager: filter.typed_config })),
  );
}

function insertFilter({ http_filters: filters }: Manager, { match, patch }: Patch): boolean {
  if (patch.operation !== "INSERT_BEFORE") throw new Error(patch.operation);
  const anchor = match.listener?.filterChain?.filter.subFilter?.name;
  const at = filters.findIndex(({ name }) => name === anchor);
  if (at >= 0) filters.splice(at, 0, structuredClone(patch.value));
  return at >= 0;
}

function patchRoutes(manager: Manager, { match, patch }: Patch): boolean {
  const wanted = match.routeConfiguration?.vhost.route.name;
  return manager.route_config.virtual_hosts
    .map(({ routes }) => {
      const found = routes.filter(({ name }) => name === wanted);
      if (patch.operation === "MERGE") for (const each of found) merge(each, patch.value);
      else if (patch.operation === "INSERT_FIRST") {
        if (found.length > 0) routes.unshift(structuredClone(patch.value));
      } else throw new Error(patch.operation);
      return found.length > 0;
    })
    .includes(true);
}

/** Messages field by field, lists one after the other, scalars and entries of maps by the new. */
export function merge(into: Fields, from: Readonly<Fields>): void {
  for (const [key, value] of Object.entries(from)) {
    if (CLUSTER_SPECIFIERS.includes(key)) for (const other of CLUSTER_SPECIFIERS) delete into[other];
    const old = into[key];
    if (Array.isArray(old) && Array.isArray(value)) into[key] = [...old, ...structuredClone(value)];
    else if (isMessage(old) && isMessage(value)) {
      if (MAPS.has(key)) Object.assign(old, structuredClone(value));
      else merge(old, value);
    } else into[key] = structuredClone(value);
  }
}

function isMessage(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
