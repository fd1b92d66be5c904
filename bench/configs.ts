import { join } from "node:path";
import { type EnvoyConfig, readEnvoyConfig } from "../test/support/envoy-config.js";
import { findRepoRoot } from "../test/support/repo-root.js";

type Node = Record<string, unknown>;

/** The answer that Envoy is to give by itself, as one of ours looked. */
export interface DirectAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A shipped file with the filter's modules taken from another folder. */
export function shipped(file: string, modules: string): EnvoyConfig {
  const config = readEnvoyConfig(join(findRepoRoot(), "envoy", file));
  for (const node of nodesOf(config)) {
    if (typeof node.filename === "string") node.filename = node.filename.replace(/^build\b/, modules);
  }
  return config;
}

/** The same listener, route and cluster without the filters whose names begin so: by default all of ours. */
export function withoutFilters(config: EnvoyConfig, prefix = "llm.breaker."): EnvoyConfig {
  for (const node of nodesOf(config)) {
    if (!Array.isArray(node.http_filters)) continue;
    node.http_filters = node.http_filters.filter((filter) => !String(filter.name).startsWith(prefix));
  }
  return config;
}

/** Every wasm filter is this module. */
export function withModule(config: EnvoyConfig, module: string): EnvoyConfig {
  for (const node of nodesOf(config))
    if (typeof node.filename === "string" && node.filename.endsWith(".wasm")) node.filename = module;
  return config;
}

/** What is Open stays Open. */
export function withLongWait(config: EnvoyConfig): EnvoyConfig {
  return withPolicy(config, (policy) => {
    policy.breaker.waitDurationInOpenState = "3600s";
    policy.breaker.maxWaitDurationInOpenState = "3600s";
  });
}

/** Where requests go that name no backend, as all do without a gate. */
export function unmatchedTo(config: EnvoyConfig, cluster: string): EnvoyConfig {
  for (const node of nodesOf(config)) if (node.cluster === "llm.breaker.stop") node.cluster = cluster;
  return config;
}

/** Changes the policy in the gate's configuration. */
export function withPolicy(config: EnvoyConfig, change: (policy: Policy) => void): EnvoyConfig {
  for (const node of nodesOf(config)) {
    if (node.root_id !== "gate") continue;
    const text = node.configuration as { value: string };
    const policy = JSON.parse(text.value) as Policy;
    change(policy);
    text.value = JSON.stringify(policy);
  }
  return config;
}

export interface Policy {
  readonly breaker: Node;
  backends: Record<string, Node>;
  chains: { readonly chat: Node } & Record<string, Node>;
}

/**
 * Every route answers by itself, through the same listener. What the table adds to answers it adds to no filter's own reply, and so
 * not to these.
 */
export function answeringItself(config: EnvoyConfig, answer: DirectAnswer): EnvoyConfig {
  for (const node of nodesOf(config)) {
    if (node.virtual_hosts) delete node.response_headers_to_add;
    if (!Array.isArray(node.routes)) continue;
    const headers = Object.entries(answer.headers).map(([key, value]) => ({
      header: { key, value },
      append_action: "OVERWRITE_IF_EXISTS_OR_ADD",
    }));
    const reply = { status: answer.status, body: { inline_string: answer.body } };
    node.routes = [{ match: { prefix: "/" }, direct_response: reply, response_headers_to_add: headers }];
  }
  return config;
}

/** Every object of a config, wherever it stands. */
export function nodesOf(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  if (typeof value !== "object" || value === null) return [];
  return [value as Node, ...Object.values(value).flatMap(nodesOf)];
}
