import { DiscoveredFilter } from "../../support/discovered-filter.js";
import { waitFor } from "../../support/wait-for.js";
import { type Rig, type RigSettings, startRig } from "./rig.js";
import {
  connectionManager,
  type Filter,
  gateOf,
  type PolicyJson,
  policyOf,
  type ShippedConfig,
  setPolicyText,
} from "./shipped-config.js";

/** A rig whose gate can be pushed anew. */
export async function startPushedRig(settings: RigSettings): Promise<{ rig: Rig; gate: PushedGate }> {
  let gate!: PushedGate;
  try {
    const patch = (config: ShippedConfig) => {
      settings.patch?.(config);
      gate = new PushedGate(config);
    };
    const rig = await startRig({ ...settings, patch });
    return { rig, gate };
  } catch (error) {
    gate?.remove();
    throw error;
  }
}

/** The gate of a configuration, whose policy can be pushed anew. */
export class PushedGate {
  /** The policy that Envoy started with. */
  readonly policy: PolicyJson;
  readonly #gate: Filter;
  readonly #discovered: DiscoveredFilter;

  /** Takes the place of the gate in `config`. */
  constructor(config: ShippedConfig) {
    const { http_filters } = connectionManager(config);
    const shipped = gateOf(config);
    this.#gate = structuredClone(shipped);
    this.#discovered = new DiscoveredFilter(shipped.name);
    this.policy = policyOf(shipped);
    this.#write(this.policy);
    http_filters[http_filters.indexOf(shipped)] = this.#discovered.entry;
  }

  /** Pushes a policy and waits until Envoy has taken it, or has refused it where that is what the test wants. */
  async push(
    rig: Rig,
    policy: PolicyJson,
    wanted: "config_reload" | "config_fail" = "config_reload",
  ): Promise<void> {
    const count = () => rig.envoy.stat(`extension_config_discovery.http_filter.${this.#gate.name}.${wanted}`);
    const before = await count();
    this.#write(policy);
    await waitFor(async () => (await count()) > before, 10_000, `${wanted} of the pushed policy`);
  }

  remove(): void {
    this.#discovered.remove();
  }

  #write(policy: PolicyJson): void {
    setPolicyText(this.#gate, JSON.stringify(policy));
    this.#discovered.push(this.#gate.typed_config);
  }
}
