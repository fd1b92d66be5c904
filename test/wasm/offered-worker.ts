import { RequestScope } from "./host/context.js";
import type { Stream } from "./host/stream.js";
import type { World } from "./host/world.js";
import { Worker } from "./worker.js";

const reasons = ["permitted", "refused", "limited", "shed"] as const;

/** How a backend has counted what came to it, zeros left out. */
export type Offered = Readonly<Partial<Record<(typeof reasons)[number] | "diverted", number>>>;

/** A worker whose next request has a class, whose engines can be asked for their load, and whose counts can be read. */
export class OfferedWorker extends Worker {
  chain = "chat";
  routeClass: string | undefined;
  readonly loadMetrics = new Map<string, string>();
  readonly #world: World;

  constructor(world: World, policy: string) {
    super(world, policy);
    this.#world = world;
  }

  override newScope(): RequestScope {
    const route = { chain: this.chain, ...(this.routeClass && { class: this.routeClass }) };
    const metadata = { filter_metadata: { "llm.breaker": route } };
    return new RequestScope({ xds: { route_metadata: metadata, route_name: this.chain } });
  }

  override openMeter(scope: RequestScope, cluster: string, properties: Record<string, string> = {}): Stream {
    const stream = super.openMeter(scope, cluster, properties);
    const loadMetrics = this.loadMetrics.get(cluster);
    const metadata = { backend: cluster, ...(loadMetrics && { loadMetrics }) };
    stream.context.properties = {
      ...stream.context.properties,
      xds: { cluster_name: cluster, cluster_metadata: { filter_metadata: { "llm.breaker": metadata } } },
    };
    return stream;
  }

  /** What all VMs know after their next tick. */
  tick(): void {
    this.vm.tick(this.meter);
    this.vm.tick(this.gate);
  }

  offered(backend: string): Offered {
    this.flushCounters();
    const entries = [...reasons, "diverted"].map(
      (name) => [name, this.#world.metrics.value(`llm_breaker.${backend}.${name}`)] as const,
    );
    return Object.fromEntries(entries.filter(([, count]) => count > 0));
  }

  /** Requests that came to a backend, each attempt of its own included. */
  came(backend: string): number {
    const offered = this.offered(backend);
    return reasons.reduce((sum, reason) => sum + (offered[reason] ?? 0), 0);
  }
}
