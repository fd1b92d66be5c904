import type { EnvoyConfig } from "../../test/support/envoy-config.js";
import { nodesOf, type Policy, withPolicy } from "../configs.js";

const never = 1_000_000;

/** Silent streams stay, which the breaker would end, and so many that begin at once, or under valgrind, open nothing. */
export function withPatience(config: EnvoyConfig): EnvoyConfig {
  return withPolicy(config, ({ breaker, chains }) => {
    breaker.minimumNumberOfCalls = never;
    breaker.consecutiveFailuresThreshold = never;
    chains.chat.firstTokenTimeout = "600s";
    chains.chat.stallTimeout = "3600s";
  });
}

/** A thousand streams that begin under valgrind have to wait for their connections. */
export function withSlowConnections(config: EnvoyConfig): EnvoyConfig {
  for (const node of nodesOf(config)) if (node.connect_timeout !== undefined) node.connect_timeout = "60s";
  return config;
}

export function withBuckets(config: EnvoyConfig, count: number): EnvoyConfig {
  return withPolicy(config, ({ breaker }) => {
    breaker.slidingWindowSize = count;
  });
}

/** So many backends in the policy, each with a chain and a model of its own; the bench asks for the first one's. */
export function withBackends(config: EnvoyConfig, count: number): EnvoyConfig {
  return withPolicy(config, (policy: Policy) => {
    const { gpu = {} } = policy.backends;
    policy.backends = { gpu };
    policy.chains = { chat: { ...policy.chains.chat, tiers: ["gpu"] } };
    for (let at = 1; at < count; at++) {
      policy.backends[`gpu-${at}`] = { ...gpu };
      policy.chains[`chat-${at}`] = { models: [`model-${at}`], tiers: [`gpu-${at}`] };
    }
  });
}

/** Each worker gets as many connections as the others: by default it is chance, and one may get all. */
export function withEqualWorkers(config: EnvoyConfig): EnvoyConfig {
  for (const node of nodesOf(config)) {
    if (Array.isArray(node.filter_chains)) node.connection_balance_config = { exact_balance: {} };
  }
  return config;
}
