import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const clusterType = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** Clusters that Envoy reads from a file and reads again at each `push`, as from an xDS server. */
export class DiscoveredClusters {
  readonly #folder = mkdtempSync(join(tmpdir(), "llm-breaker-clusters-"));
  readonly #file = join(this.#folder, "clusters.json");
  #version = 0;

  /** What stands in Envoy's `dynamic_resources`; push once before Envoy starts. */
  get source(): { cds_config: unknown } {
    const path_config_source = { path: this.#file, watched_directory: { path: this.#folder } };
    return { cds_config: { resource_api_version: "V3", path_config_source } };
  }

  /** Replaces the file as a whole, which is what Envoy watches for. Those that are not in it any more are removed. */
  push(clusters: readonly object[]): void {
    const resources = clusters.map((cluster) => ({ "@type": clusterType, ...cluster }));
    writeFileSync(`${this.#file}.next`, JSON.stringify({ version_info: `${++this.#version}`, resources }));
    renameSync(`${this.#file}.next`, this.#file);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
