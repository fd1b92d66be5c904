import type { Located } from "../tree/located.js";
import { type Connections, connectionsOf, readCluster } from "./envoy.js";
import { readFilter } from "./filters.js";
import type { Setup } from "./setup.js";

const RESOURCES = [
  "Listener",
  "Cluster",
  "RouteConfiguration",
  "Bootstrap",
  "HttpConnectionManager",
  "TypedExtensionConfig",
];
/** Values that are looked at on the way to resources. */
const MAX_VISITS = 2_000_000;
const MAX_DEPTH = 60;

/** Finds Envoy's resources: of a bootstrap, of xDS files and dumps by their types, and bare ones by their shape. */
export class EnvoyReader {
  private readonly seen = new Set<Located>();
  private visits = 0;

  constructor(private readonly setup: Setup) {}

  readDocument(root: Located): void {
    if (root.get("static_resources") !== undefined || root.get("dynamic_resources") !== undefined)
      this.read("Bootstrap", root);
    else for (const each of root.items.length > 0 ? root.items : [root]) this.bare(each);
    this.walk(root, 0);
  }

  /** A document or list entry that is a resource without saying which. */
  private bare(node: Located): void {
    if (node.type !== "") return;
    if (node.get("filter_chains")) this.read("Listener", node);
    else if (node.get("virtual_hosts")) this.read("RouteConfiguration", node);
    else if (node.get("http_filters") && node.get("stat_prefix")) this.read("HttpConnectionManager", node);
    else if (
      node.get("name") &&
      (node.get("load_assignment") ??
        node.get("cluster_type") ??
        node.get("lb_policy") ??
        node.get("connect_timeout"))
    )
      this.read("Cluster", node);
    for (const [key, type] of [
      ["listeners", "Listener"],
      ["clusters", "Cluster"],
      ["route_configs", "RouteConfiguration"],
    ] as const) {
      for (const each of node.list(key)) this.read(type, each);
    }
  }

  private walk(node: Located, depth: number): void {
    if (depth > MAX_DEPTH || this.visits++ > MAX_VISITS) return;
    if (RESOURCES.includes(node.type)) this.read(node.type, node);
    for (const each of node.isMap ? node.fields.values() : node.items) {
      if (typeof each.content === "object" && each.content !== null && !this.seen.has(each)) {
        this.seen.add(each);
        this.walk(each, depth + 1);
      }
    }
  }

  private readonly taken = new Set<Located>();

  read(type: string, node: Located): void {
    if (this.taken.has(node)) return;
    this.taken.add(node);
    if (type === "Bootstrap") {
      this.setup.bootstraps.push(node);
      for (const each of node.list("static_resources", "listeners")) this.read("Listener", each);
      for (const each of node.list("static_resources", "clusters")) this.read("Cluster", each);
    } else if (type === "Listener") {
      for (const connections of connectionsOf(node)) this.add(connections);
    } else if (type === "HttpConnectionManager") {
      // One that stands in a listener came with it.
    } else if (type === "TypedExtensionConfig") this.setup.looseFilters.push(readFilter(node));
    else if (type === "Cluster") this.setup.clusters.push(readCluster(node));
    else if (type === "RouteConfiguration") this.setup.tables.push(node);
  }

  private add(connections: Connections): void {
    if (this.taken.has(connections.at)) return;
    this.taken.add(connections.at);
    this.setup.connections.push(connections);
    if (connections.routes) this.read("RouteConfiguration", connections.routes);
  }
}
