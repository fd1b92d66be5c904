import type { Plan } from "../plan.js";
import { mapOf } from "../policy-text.js";
import { commented, type YamlValue } from "../yaml/value.js";
import { countFilter, rememberFilter, whereAsked } from "./asked.js";
import type { UpstreamPlace } from "./upstream.js";
import { gateFilter, wasmFilter } from "./wasm.js";

/** What of the service's work the policy's chains ask for. */
export interface Wants {
  readonly limits: boolean;
  /** Chains whose callers may get their last good answer. */
  readonly remembered: readonly string[];
}

export function wantsOf({ policy }: Pick<Plan, "policy">): Wants {
  const chains = Object.entries(mapOf(mapOf(JSON.parse(policy)).chains));
  return {
    limits: chains.some(([, chain]) => mapOf(chain).limits === true),
    remembered: chains
      .filter(([, chain]) => mapOf(mapOf(chain).exhausted).action === "cached")
      .map(([name]) => name),
  };
}

/** What stands before the router, in this order. */
export function downstreamFilters(plan: Plan, place: UpstreamPlace): YamlValue[] {
  const { serviceCluster } = place;
  const filters: YamlValue[] = [
    commented(
      "Admits or refuses on the headers, and names the backend. What knows the caller (authentication, limits of yours) goes before it.",
      gateFilter(place, plan.policy),
    ),
  ];
  if (serviceCluster === undefined) return filters;
  filters.push(
    commented(
      "The service, where the gate asks for it: tokens of a possible canary, callers' limits, answers where no tier can.",
      whereAsked(countFilter(serviceCluster)),
    ),
    commented("Turns the count into a decision.", whereAsked(wasmFilter("admit", place))),
  );
  if (wantsOf(plan).remembered.length > 0) {
    filters.push(
      commented("Keeps the last good answers of routes that say so.", rememberFilter(serviceCluster)),
    );
  }
  return filters;
}
