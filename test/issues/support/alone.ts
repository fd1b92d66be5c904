import { type Alias, type Rig, type RigSettings, startRig } from "../../e2e/support/rig.js";
import { addRoute, chainOf, type PolicyJson, type ShippedConfig } from "../../e2e/support/shipped-config.js";
import { type Answer, type ChatSettings, chat } from "../../support/client.js";

type Json = Readonly<Record<string, unknown>>;

const aliases: readonly Alias[] = ["gpu", "small", "public"];

/** A rig with these breaker settings and with a chain for each backend alone, whose settings `chain` changes. */
export function startAloneRig(
  breaker: Json,
  { chain, policy: more }: { chain?: Json } & Pick<RigSettings, "policy"> = {},
): Promise<Rig> {
  return startRig({
    service: false,
    policy: (policy) => {
      addAloneChains(policy, chain);
      Object.assign(policy.breaker, breaker);
      more?.(policy);
    },
    patch: addAloneRoutes,
  });
}

/** A chain for each backend with no tier but that one: its callers get that backend's own answers, and one try. */
export function addAloneChains(policy: PolicyJson, settings: Json = {}): void {
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
