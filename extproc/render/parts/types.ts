import type { YamlMap } from "../yaml/value.js";

const TYPES = "type.googleapis.com";

/** A message of Envoy's as an Any. */
export function typed(type: string, value: YamlMap = {}): YamlMap {
  return { "@type": `${TYPES}/${type}`, ...value };
}

export function extension(name: string, type: string, value: YamlMap = {}): YamlMap {
  return { name, typed_config: typed(type, value) };
}

/** By default a cluster's name is the authority, and Istio's (`outbound|9002||host`) are none that a server takes: the host's. */
export function envoyGrpc(cluster: string): YamlMap {
  const parts = cluster.split("|");
  return { cluster_name: cluster, authority: parts.length > 1 ? parts.at(-1) : undefined };
}
