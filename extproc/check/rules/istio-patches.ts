import { readFilter } from "../setup/filters.js";
import type { MeshObject, Setup } from "../setup/setup.js";
import type { Located } from "../tree/located.js";

export const OURS = /llm.?breaker/i;

export interface Patch {
  readonly object: MeshObject;
  readonly at: Located;
  readonly value: Located;
  readonly target: string;
  readonly context: string;
}

/** Patches of EnvoyFilters that bring something of the breaker. */
export function patches(setup: Setup): readonly Patch[] {
  return setup.objectsOf("EnvoyFilter").flatMap((object) =>
    object.spec.list("configPatches").flatMap((at) => {
      const value = at.at("patch", "value");
      const patch = {
        object,
        at,
        value,
        target: at.at("applyTo")?.text ?? "",
        context: at.at("match", "context")?.text ?? "ANY",
      };
      return value && isOurs(value) ? [{ ...patch, value }] : [];
    }),
  );
}

export function isOurs(value: Located): boolean {
  return (
    OURS.test(value.textOf("name") ?? "") ||
    readFilter(value).role === "gate" ||
    value.get("metadata", "filter_metadata")?.at("llm.breaker") !== undefined ||
    specifierOf(value) !== undefined ||
    JSON.stringify(
      [...(value.get("typed_extension_protocol_options")?.fields.values() ?? [])].flatMap((each) =>
        each.list("http_filters").map((filter) => filter.textOf("name")),
      ),
    ).includes("llm.breaker")
  );
}

export function specifierOf(value: Located): Located | undefined {
  return value.get("route", "inline_cluster_specifier_plugin") ?? value.get("cluster_specifier_plugins");
}

export function anchorOf({ at }: Patch): Located | undefined {
  return at.at("match", "listener", "filterChain", "filter", "subFilter", "name");
}

export function isBelow({ versions }: Setup, minor: number): boolean {
  return versions.istio !== undefined && versions.istio[0] === 1 && versions.istio[1] < minor;
}
