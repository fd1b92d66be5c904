import { routeChain } from "../parts/routing.js";
import type { Plan, PlannedChain } from "../plan.js";
import type { Findings } from "./fields.js";
import { chainOf, type FoundRoute } from "./find.js";

/** Which of somebody's routes are meant. */
export interface Choice {
  /** Names, prefixes or paths of routes. */
  readonly routes: readonly string[];
  readonly listener: string | undefined;
  /** Of the policy's chains, or undefined: by the policy. */
  readonly chain: string | undefined;
}

export interface ChosenRoute {
  readonly route: FoundRoute;
  /** As the route's metadata name it. */
  readonly chain: string;
  /** Those that its requests may have. */
  readonly chains: readonly PlannedChain[];
}

/** The routes that go to the breaker: those that are named, or that do already, or the only one. */
export function chooseRoutes(
  all: readonly FoundRoute[],
  plan: Plan,
  choice: Choice,
  findings: Findings,
): ChosenRoute[] {
  const { listener } = choice;
  const routes = all.filter((route) => listener === undefined || route.listener === listener);
  if (routes.length === 0) {
    findings.fault(
      [],
      listener === undefined
        ? "has no route to a cluster, in no route_config"
        : `has no route to a cluster in a listener named ${listener}`,
    );
    return [];
  }
  if (choice.chain !== undefined) {
    const chain = plan.chains.find(({ name }) => name === choice.chain);
    if (chain === undefined) {
      findings.fault(
        [],
        `--chain must be one of ${plan.chains.map(({ name }) => name).join(", ")}, got ${choice.chain}`,
      );
      return [];
    }
    return namedRoutes(routes, choice, findings).map((route) => ({
      route,
      chain: chain.name,
      chains: [chain],
    }));
  }
  const special = plan.chains
    .filter(({ prefix }) => prefix !== undefined)
    .flatMap((chain) => routeByPrefix(routes, chain, findings));
  const others = plan.chains.filter(({ prefix }) => prefix === undefined);
  if (others.length === 0) return special;
  const left = routes.filter((route) => !special.some((each) => each.route === route));
  const name = routeChain(plan);
  return [
    ...special,
    ...namedRoutes(left, choice, findings).map((route) => ({ route, chain: name, chains: others })),
  ];
}

function routeByPrefix(
  routes: readonly FoundRoute[],
  chain: PlannedChain,
  findings: Findings,
): ChosenRoute[] {
  const route = routes.find(({ match }) => match === chain.prefix);
  if (route === undefined) {
    findings.fault([], `has no route with the prefix ${chain.prefix} of chains.${chain.name}: add one`);
    return [];
  }
  return [{ route, chain: chain.name, chains: [chain] }];
}

function namedRoutes(
  routes: readonly FoundRoute[],
  { routes: wanted }: Choice,
  findings: Findings,
): FoundRoute[] {
  if (wanted.length > 0) {
    return wanted.flatMap((name) => {
      const found = routes.filter((route) => route.name === name || route.match === name);
      if (found.length === 0)
        findings.fault([], `has no route ${name}: there are ${routes.map(labelOf).join(", ")}`);
      return found;
    });
  }
  const ours = routes.filter((route) => chainOf(route) !== undefined);
  if (ours.length > 0) return ours;
  if (routes.length === 1) return [...routes];
  findings.fault([], `has several routes: name one with --route, of ${routes.map(labelOf).join(", ")}`);
  return [];
}

function labelOf({ name, match }: FoundRoute): string {
  return name === "" ? match || "one without a name" : name;
}
