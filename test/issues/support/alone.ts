import type { Alias, Rig } from "../../e2e/support/rig.js";
import { addRoute, chainOf, type PolicyJson, type ShippedConfig } from "../../e2e/support/shipped-config.js";
import { type Answer, type ChatSettings, chat } from "../../support/client.js";

const aliases: readonly Alias[] = ["gpu", "small", "public"];

/** A chain for each backend with no tier but that one: its callers get that backend's own answers, and one try. */
export function addAloneChains(policy: PolicyJson, settings: Readonly<Record<string, unknown>> = {}): void {
  for (const alias of aliases) {
    policy.chains[`only-${alias}`] = { ...chainOf(policy), tiers: [alias], sameTierRetries: 0, ...settings };
  }
}

export function addAloneRoutes(config: ShippedConfig): void {
  for (const alias of aliases) addRoute(config, `/only-${alias}/`, `only-${alias}`);
}

export function askAlone(rig: Rig, alias: Alias, settings: ChatSettings = {}): Promise<Answer> {
  return chat(`${rig.url}/only-${alias}`, settings);
}
