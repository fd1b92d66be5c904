// The shipped full.yaml with short timers, and with chains of its own for each situation.
import { neverOpen, type Rig, startRig } from "../e2e/support/rig.js";
import {
  addBackend,
  addRoute,
  type Cluster,
  chainOf,
  connectionManager,
  gateOf,
  type PolicyJson,
  policyOf,
  type ShippedConfig,
  setPolicyText,
} from "../e2e/support/shipped-config.js";
import { DiscoveredFilter } from "../support/discovered-filter.js";
import { freePort } from "../support/ports.js";
import { limits } from "./plan.js";

/** Backends that take turns in going through an opening and a ramp. */
export const rampCount = 4;
export const maxCanaries = 2;

const tiers = ["gpu", "small", "public"] as const;
type Tiers = readonly [string, string, string];

export async function startCalmRig(): Promise<Rig> {
  const ports = await deadPorts();
  return await startRig({
    policy: (policy) => {
      neverOpen(policy);
      addChains(policy, { chat: tiers, ...deadChains });
    },
    patch: (config) => patchDead(config, ports),
    fixedPorts: ports,
  });
}

export interface PushRig {
  readonly rig: Rig;
  /** Pushes the policy again, with a changed number in it. */
  push(): void;
  stop(): Promise<void>;
}

export async function startPushRig(): Promise<PushRig> {
  const ports = await deadPorts();
  const discovered = new DiscoveredFilter("llm.breaker.gate");
  let push = (): void => {};
  const rig = await startRig({
    policy: (policy) => {
      neverOpen(policy);
      addChains(policy, { chat: tiers, ...deadChains });
    },
    patch: (config) => {
      patchDead(config, ports);
      const gate = structuredClone(gateOf(config));
      const policy = policyOf(gate);
      let pushes = 0;
      push = () => {
        policy.breaker.minimumNumberOfCalls = 10 + (++pushes % 50);
        setPolicyText(gate, JSON.stringify(policy));
        discovered.push(gate.typed_config);
      };
      push();
      const { http_filters } = connectionManager(config);
      http_filters[http_filters.indexOf(gateOf(config))] = discovered.entry;
    },
    fixedPorts: ports,
  });
  const stop = async (): Promise<void> => {
    await rig.stop();
    discovered.remove();
  };
  return { rig, push, stop };
}

/** Chains whose first tier, or the one after an open first tier, can be brought to half-open. */
export async function startRampRig(): Promise<Rig> {
  const chains: Record<string, Tiers> = { shut: ["shut", "small", "public"] };
  const copies: Record<string, string> = { shut: "gpu" };
  for (let at = 0; at < rampCount; at++) {
    chains[`ramp${at}`] = [`ramp${at}`, "small", "public"];
    chains[`later${at}`] = ["shut", `later${at}`, "public"];
    copies[`ramp${at}`] = "gpu";
    copies[`later${at}`] = "small";
  }
  return await startRig({
    policy: (policy) => {
      const never = structuredClone(policy);
      neverOpen(never);
      // A new backend each time, as it were: what came before does not lengthen the wait.
      const opening = { ...policy.breaker, backoffResetAfter: "0s" };
      const openingForEver = { waitDurationInOpenState: "1h", maxWaitDurationInOpenState: "1h" };
      policy.breaker = never.breaker;
      for (const alias of Object.keys(copies)) policy.backends[alias] = { breaker: opening };
      policy.backends.shut = { breaker: { ...opening, ...openingForEver } };
      addChains(policy, chains);
    },
    patch: (config) => {
      for (const [name, like] of Object.entries(copies)) addBackend(config, name, like);
      addRoutes(config, Object.keys(chains));
    },
  });
}

const deadTiers = ["dead0", "dead1", "dead2"] as const;
const deadChains: Record<string, Tiers> = {
  "dead-first": ["dead0", "small", "public"],
  "dead-fallback": ["gpu", "dead1", "public"],
  "dead-all": deadTiers,
};

/** Ports that nobody listens on, one for each dead tier. */
async function deadPorts(): Promise<number[]> {
  return await Promise.all(deadTiers.map(() => freePort()));
}

function patchDead(config: ShippedConfig, ports: readonly number[]): void {
  deadTiers.forEach((name, at) => {
    addBackend(config, name, "gpu", ports[at]);
  });
  addRoutes(config, ["chat", ...Object.keys(deadChains)]);
}

/** Each chain twice: as it is, and under its name with `-complete`. */
function addChains(policy: PolicyJson, chains: Readonly<Record<string, Tiers>>): void {
  const { firstTokenMs, answerMs, stallMs, maxAttempts, sameTierRetries } = limits;
  Object.assign(chainOf(policy), {
    firstTokenTimeout: `${firstTokenMs}ms`,
    firstTokenTimeoutPerPromptToken: "0ms",
    answerTimeout: `${answerMs / 1_000}s`,
    stallTimeout: `${stallMs}ms`,
    maxAttempts,
    sameTierRetries,
  });
  const like = chainOf(policy);
  for (const [name, tiers] of Object.entries(chains)) {
    for (const tier of tiers) policy.backends[tier] ??= {};
    policy.chains[name] = { ...like, tiers };
    policy.chains[`${name}-complete`] = { ...like, tiers, commit: "complete" };
  }
}

function addRoutes(config: ShippedConfig, chains: readonly string[]): void {
  for (const cluster of config.static_resources.clusters) takeTrailers(cluster);
  for (const chain of chains) {
    for (const name of [chain, `${chain}-complete`]) addRoute(config, `/${name}/`, name);
  }
}

/** Envoy drops an HTTP/1.1 backend's trailers by default, and then no filter sees that they ended the answer. */
function takeTrailers({ typed_extension_protocol_options }: Cluster): void {
  for (const { explicit_http_config } of Object.values(typed_extension_protocol_options ?? {})) {
    if (explicit_http_config.http_protocol_options) {
      explicit_http_config.http_protocol_options = { enable_trailers: true };
    }
  }
}
