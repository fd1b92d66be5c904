import { routeChain } from "../../parts/routing.js";
import type { Plan, PlannedChain } from "../../plan.js";

/** A route that the plan needs, which is somebody else's object: what it names in its metadata, and who takes it. */
export interface PlannedRoute {
  readonly chain: string;
  /** Undefined: every path that no other takes. */
  readonly prefix: string | undefined;
  /** The chains that its requests may come to. */
  readonly chains: readonly [PlannedChain, ...PlannedChain[]];
}

/** The one for all paths last. */
export function plannedRoutes(plan: Plan): readonly PlannedRoute[] {
  const own = plan.chains.filter(({ prefix }) => prefix !== undefined);
  const routes: PlannedRoute[] = own.map((chain) => ({
    chain: chain.name,
    prefix: chain.prefix,
    chains: [chain],
  }));
  const [first, ...others] = plan.chains.filter(({ prefix }) => prefix === undefined);
  if (first !== undefined) {
    routes.push({ chain: routeChain(plan), prefix: undefined, chains: [first, ...others] });
  }
  return routes;
}

/** Aliases of the backends that its requests may come to. */
export function aliasesOf({ chains }: PlannedRoute): ReadonlySet<string> {
  return new Set(chains.flatMap(({ tiers }) => tiers));
}

/** The backend that the route itself leads to. */
export function firstTier({ chains: [first] }: PlannedRoute): string {
  return first.tiers[0] ?? "";
}

/** It names its one cluster itself. */
export function isFixed({ chains }: PlannedRoute): boolean {
  return chains.length === 1 && chains[0].isFixed;
}
