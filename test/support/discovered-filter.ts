import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const wasmType = "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm";

/** A wasm filter whose configuration Envoy reads from a file and reads again at each `push`. */
export class DiscoveredFilter {
  readonly #folder = mkdtempSync(join(tmpdir(), "llm-breaker-discovery-"));
  readonly #file = join(this.#folder, "filter.yaml");
  #version = 0;

  constructor(readonly name: string) {}

  /** What stands in Envoy's list of filters; push once before Envoy starts. */
  get entry(): { name: string; config_discovery: unknown } {
    const path_config_source = { path: this.#file, watched_directory: { path: this.#folder } };
    const config_source = { resource_api_version: "V3", path_config_source };
    return { name: this.name, config_discovery: { config_source, type_urls: [wasmType] } };
  }

  /** Replaces the file as a whole, which is what Envoy watches for. */
  push(typedConfig: unknown): void {
    const type = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";
    const resources = [{ "@type": type, name: this.name, typed_config: typedConfig }];
    writeFileSync(`${this.#file}.next`, JSON.stringify({ version_info: `${++this.#version}`, resources }));
    renameSync(`${this.#file}.next`, this.#file);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
