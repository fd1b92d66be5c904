import type { YamlMap } from "../yaml/value.js";

const TYPES = "type.googleapis.com";

/** A message of Envoy's as an Any. */
export function typed(type: string, value: YamlMap = {}): YamlMap {
  return { "@type": `${TYPES}/${type}`, ...value };
}

export function extension(name: string, type: string, value: YamlMap = {}): YamlMap {
  return { name, typed_config: typed(type, value) };
}
