import type { Located } from "../tree/located.js";
import type { TreeProblem } from "../tree/yaml.js";
import { type Cluster, type Connections, type Route, routesOf, STOP_CLUSTER } from "./envoy.js";
import type { HttpFilter } from "./filters.js";
import { BY_MODEL, type ChainView, type PolicyView } from "./policy.js";

/** [major, minor] of Envoy. */
export type Version = readonly [number, number];

export interface Versions {
  readonly envoy: Version;
  readonly istio: Version | undefined;
}

/** A Kubernetes object: Istio's, the Gateway API's or Envoy Gateway's. */
export interface MeshObject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly at: Located;
  readonly spec: Located;
}

/** Everything that the files tell, in the shape that rules ask for. */
export class Setup {
  readonly bootstraps: Located[] = [];
  readonly connections: Connections[] = [];
  readonly tables: Located[] = [];
  readonly clusters: Cluster[] = [];
  readonly objects: MeshObject[] = [];
  /** Routes that a mesh merges ours into. */
  readonly partRoutes: Route[] = [];
  /** Filters that a mesh inserts, in the order of its files. */
  readonly partFilters: HttpFilter[] = [];
  readonly partListeners: Located[] = [];
  readonly serviceFiles: Located[] = [];
  /** Filters that are pushed by themselves (ECDS). */
  readonly looseFilters: HttpFilter[] = [];
  /** Policies that came as files. */
  readonly loosePolicies: PolicyView[] = [];
  policies: PolicyView[] = [];
  private made: Map<string, unknown> | undefined;

  constructor(
    readonly versions: Versions,
    /** What could not be read. */
    readonly problems: readonly TreeProblem[],
  ) {}

  /** Everything is read: what follows from it is worked out once. */
  seal(): void {
    this.made = new Map();
  }

  private once<Value>(name: string, make: () => Value): Value {
    if (!this.made?.has(name)) {
      const value = make();
      this.made?.set(name, value);
      return value;
    }
    return this.made.get(name) as Value;
  }

  get filters(): readonly HttpFilter[] {
    return this.once("filters", () => {
      return [
        ...this.connections.flatMap(({ filters }) => filters),
        ...this.partFilters,
        ...this.clusters.flatMap(({ filters }) => filters),
        ...this.looseFilters,
      ];
    });
  }

  filtersOfRole(role: HttpFilter["role"]): readonly HttpFilter[] {
    return this.filters.filter((filter) => filter.role === role);
  }

  /** Objects of one kind. */
  objectsOf(kind: string): readonly MeshObject[] {
    return this.objects.filter((object) => object.kind === kind);
  }

  get isMesh(): boolean {
    return this.objects.length > 0;
  }

  /** Connection managers with a gate. */
  get gated(): readonly Connections[] {
    return this.once("gated", () => {
      return this.connections.filter(({ filters }) => filters.some(({ role }) => role === "gate"));
    });
  }

  /** The route tables that requests behind a gate take, and those of which nobody knows. */
  private get gatedTables(): readonly Located[] {
    return this.once("gatedTables", () => {
      if (this.connections.length === 0) return this.tables;
      return this.gated.flatMap(({ routes, routesName }) =>
        routes ? [routes] : this.tables.filter((table) => table.textOf("name") === routesName),
      );
    });
  }

  /** Routes whose requests the breaker looks after. */
  get routes(): readonly Route[] {
    return this.once("routes", () => {
      const all = [...this.gatedTables.flatMap(routesOf), ...this.partRoutes];
      return all.filter(
        (route) =>
          route.matcher !== undefined || this.chainsOf(route).length > 0 || route.chain !== undefined,
      );
    });
  }

  /** The chains that may serve a route's requests. */
  chainsOf({ chain, passesGate }: Route): readonly ChainView[] {
    if (passesGate) return [];
    return this.policies.flatMap((policy) => {
      const name = policy.onlyChain ?? chain?.text ?? "";
      if (name === BY_MODEL) return [...policy.chains.values()];
      const found = policy.chains.get(name);
      return found === undefined ? [] : [found];
    });
  }

  get chains(): readonly ChainView[] {
    return this.once("chains", () => {
      return this.policies.flatMap(({ chains }) => [...chains.values()]);
    });
  }

  /** Clusters that answer for a backend. */
  get backends(): readonly Cluster[] {
    return this.once("backends", () => {
      const named = new Set(
        this.policies.flatMap(({ backends }) => [...backends.values()].map(({ cluster }) => cluster)),
      );
      for (const { matcher } of this.routes) {
        for (const cluster of matcher?.clusters.values() ?? []) named.add(cluster.text ?? "");
      }
      return this.clusters.filter(
        ({ name, filters, metadata }) =>
          name !== STOP_CLUSTER &&
          (named.has(name) || metadata.has("backend") || filters.some(({ role }) => role === "meter")),
      );
    });
  }

  get stopClusters(): readonly Cluster[] {
    return this.clusters.filter(({ name }) => name === STOP_CLUSTER);
  }

  /** Clusters that ext_proc, or the gate, reaches the service by; `http` is the gate's. */
  servicesOf(kind: "grpc" | "http"): readonly Cluster[] {
    const names =
      kind === "grpc"
        ? this.serviceNames
        : this.policies.flatMap(({ serviceCluster }) => serviceCluster ?? []);
    return this.clusters.filter(({ name }) => names.includes(name));
  }

  get serviceNames(): readonly string[] {
    return this.once("serviceNames", () => {
      return this.serviceFilters.flatMap(
        ({ config }) => config.textOf("grpc_service", "envoy_grpc", "cluster_name") ?? [],
      );
    });
  }

  get serviceFilters(): readonly HttpFilter[] {
    return this.once("serviceFilters", () => {
      return this.filters.filter(({ role }) => role === "count" || role === "rewrite" || role === "remember");
    });
  }

  /** The files hold all clusters there are. */
  get knowsClusters(): boolean {
    return (
      this.bootstraps.length > 0 &&
      this.bootstraps.every((each) => each.get("dynamic_resources", "cds_config") === undefined) &&
      this.bootstraps.every((each) => each.get("dynamic_resources", "ads_config") === undefined)
    );
  }

  /** Longest wait for an answer in one piece among `chains`. */
  static answerTimeout(chains: readonly ChainView[]): number {
    return Math.max(0, ...chains.map(({ answerTimeoutMs }) => answerTimeoutMs));
  }

  get usesBreaker(): boolean {
    return (
      this.filters.some(({ role }) => role === "gate" || role === "meter") ||
      this.clusters.some(({ metadata }) => metadata.size > 0) ||
      this.routes.length > 0 ||
      this.serviceFiles.length > 0
    );
  }
}
