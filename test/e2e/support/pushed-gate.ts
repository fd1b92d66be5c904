import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitFor } from "../../support/wait-for.js";
import type { Rig } from "./rig.js";
import {
  connectionManager,
  type Filter,
  type PolicyJson,
  policyOf,
  type ShippedConfig,
  setPolicyText,
} from "./shipped-config.js";

const wasmType = "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm";
const resourceType = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";

/** The gate of a configuration, served to Envoy from a file that is watched, so that its policy can be pushed anew. */
export class PushedGate {
  /** The policy that Envoy started with. */
  readonly policy: PolicyJson;
  readonly #folder = mkdtempSync(join(tmpdir(), "llm-breaker-push-"));
  readonly #file = join(this.#folder, "gate.yaml");
  readonly #gate: Filter;
  #version = 0;

  /** Takes the place of the gate in `config`. */
  constructor(config: ShippedConfig) {
    const filters = connectionManager(config).http_filters;
    this.#gate = structuredClone(filters[0] as Filter);
    this.policy = policyOf(this.#gate);
    this.#write(JSON.stringify(this.policy));
    filters[0] = {
      name: this.#gate.name,
      config_discovery: {
        config_source: {
          resource_api_version: "V3",
          path_config_source: { path: this.#file, watched_directory: { path: this.#folder } },
        },
        type_urls: [wasmType],
      },
    };
  }

  /** Pushes a policy and waits until Envoy has taken it. */
  async push(rig: Rig, policy: PolicyJson): Promise<void> {
    const reloads = () =>
      rig.envoy.stat(`extension_config_discovery.http_filter.${this.#gate.name}.config_reload`);
    const before = await reloads();
    this.#write(JSON.stringify(policy));
    await waitFor(async () => (await reloads()) > before, 10_000, "the pushed policy");
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #write(policyText: string): void {
    setPolicyText(this.#gate, policyText);
    const { name, typed_config } = this.#gate;
    const resources = [{ "@type": resourceType, name, typed_config }];
    writeFileSync(`${this.#file}.next`, JSON.stringify({ version_info: String(++this.#version), resources }));
    renameSync(`${this.#file}.next`, this.#file);
  }
}
