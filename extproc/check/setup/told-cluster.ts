import type { Located } from "../tree/located.js";
import { readYaml } from "../tree/yaml.js";
import type { HttpFilter } from "./filters.js";
import { baseOf } from "./policy.js";

/** A meter's own configuration: its cluster's metadata once more. */
export interface ToldCluster {
  readonly at: Located;
  readonly keys: ReadonlyMap<string, Located>;
}

/** What the cluster with these filters tells its meter; undefined where that reads the metadata. */
export function toldCluster(filters: readonly HttpFilter[]): ToldCluster | undefined {
  const configuration = filters.find(({ role }) => role === "meter")?.plugin?.get("configuration");
  const value = configuration?.get("value");
  if (value === undefined) return undefined;
  const isText = typeof value.content === "string";
  const root = isText ? readYaml(value.source.name, value.content as string, baseOf(value)).roots[0] : value;
  return { at: value, keys: (root ?? value).fields };
}
