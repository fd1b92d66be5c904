import type { RunningEnvoy } from "../../test/support/envoy.js";
import type { EnvoyConfig } from "../../test/support/envoy-config.js";
import { shipped, unmatchedTo, withoutFilters } from "../configs.js";
import { Fleet } from "../fleet.js";
import type { LoadSettings } from "../load/caller.js";
import { Crowd } from "../load/crowd.js";
import { chatRequest } from "../load/requests.js";
import { UpstreamProcess } from "../load/upstream-process.js";
import type { Scales } from "./scales.js";
import { withBackends, withBuckets, withEqualWorkers, withPatience } from "./variants.js";

/** One Envoy of the measurement, and what is special about it. */
export interface Variant {
  readonly name: string;
  readonly config: (shippedFile: EnvoyConfig) => EnvoyConfig;
  readonly liveStreams?: number;
  readonly workers?: number;
}

/** Port of the shipped files. */
export const clients = 10000;

const connectionsPerWorker = 8;
const tinyRequest = chatRequest("tiny", 20, false);

/** The same listener, routes and clusters, nothing of ours in between. */
const bare = (config: EnvoyConfig): EnvoyConfig => unmatchedTo(withoutFilters(config), "gpu");

/** full.yaml and the same Envoy without our filters: as shipped, and at each end of each scale. */
export function variantsOf({ liveStreams, buckets, backends, workers }: Scales): Variant[] {
  return [
    { name: "bare", config: bare },
    { name: "full", config: withPatience },
    ...liveStreams.flatMap((count) => [
      { name: `bare, ${count} streams`, config: bare, liveStreams: count },
      { name: `full, ${count} streams`, config: withPatience, liveStreams: count },
    ]),
    ...buckets.map((count) => ({
      name: `full, ${count} buckets`,
      config: (config: EnvoyConfig) => withBuckets(config, count),
    })),
    ...backends.map((count) => ({
      name: `full, ${count} backends`,
      config: (config: EnvoyConfig) => withBackends(config, count),
    })),
    ...workers.flatMap((count) => [
      {
        name: `bare, ${count} workers`,
        config: (config: EnvoyConfig) => bare(withEqualWorkers(config)),
        workers: count,
      },
      { name: `full, ${count} workers`, config: withEqualWorkers, workers: count },
    ]),
  ];
}

/** Tiny requests; full.yaml must have passed them on itself. */
export function loadOf({ name, workers = 1 }: Variant, port: number): LoadSettings {
  const isFull = name.startsWith("full");
  const expect = { status: 200, ...(isFull && { head: "x-llm-breaker-backend: gpu" }) };
  return { port, request: tinyRequest, expect, connections: connectionsPerWorker * workers };
}

export interface Stand {
  readonly variant: Variant;
  readonly envoy: RunningEnvoy;
  readonly port: number;
  readonly crowd: Crowd;
}

/** All Envoys, each with its live streams. Those of a crowd end at an upstream of their own. */
export class Stands {
  readonly all: Stand[] = [];
  readonly #upstreams: UpstreamProcess[] = [];
  readonly #fleet: Fleet;

  private constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  static async start(
    modules: string,
    variants: readonly Variant[],
    say: (line: string) => void,
  ): Promise<Stands> {
    const upstream = await UpstreamProcess.start();
    const stands = new Stands(new Fleet(modules, upstream.port));
    stands.#upstreams.push(upstream);
    try {
      for (const variant of variants) await stands.#add(variant, say);
    } catch (error) {
      await stands.stop();
      throw error;
    }
    return stands;
  }

  /** @throws when a live stream has ended */
  requireLive(): void {
    for (const { variant, crowd } of this.all) crowd.requireLive(variant.liveStreams ?? 0);
  }

  async stop(): Promise<void> {
    for (const { crowd } of this.all) crowd.close();
    await this.#fleet.stop();
    for (const upstream of this.#upstreams) await upstream.stop();
  }

  async #add(variant: Variant, say: (line: string) => void): Promise<void> {
    const { liveStreams = 0, workers = 1 } = variant;
    const config = variant.config(shipped("full.yaml", this.#fleet.folder));
    let upstreamPort = this.#upstreams[0]?.port;
    if (liveStreams > 0) {
      const own = await UpstreamProcess.start();
      this.#upstreams.push(own);
      upstreamPort = own.port;
    }
    const settings = { concurrency: workers, ...(upstreamPort !== undefined && { upstreamPort }) };
    const envoy = await this.#fleet.addEnvoy(config, settings);
    const stand = { variant, envoy, port: envoy.port(clients), crowd: new Crowd() };
    this.all.push(stand);
    if (liveStreams === 0) return;
    const startMs = performance.now();
    await stand.crowd.open(stand.port, liveStreams);
    say(`${variant.name}: opened in ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
  }
}
