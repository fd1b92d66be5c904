import type { EnvoyConfig } from "../support/envoy-config.js";

/** Came with Envoy 1.39: an older one refuses a file that names it. */
const unknownBefore139 = "refresh_cluster_on_retry";

/** What an operator of an Envoy before 1.39 makes of a shipped file; docs/operations.md says it as a command. */
export function forOlderEnvoy(config: EnvoyConfig): EnvoyConfig {
  return withoutKey(config, unknownBefore139) as EnvoyConfig;
}

function withoutKey(node: unknown, key: string): unknown {
  if (Array.isArray(node)) return node.map((each) => withoutKey(each, key));
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(([name]) => name !== key);
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutKey(value, key)]));
}
