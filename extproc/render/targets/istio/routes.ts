import { wantsOf } from "../../parts/filters.js";
import { REQUEST_BODY_LIMIT, RETRY_HEADER } from "../../parts/listener.js";
import { limitHeaders } from "../../parts/replies.js";
import { BACKEND_STATE, chainMetadata, clusterMatcher, retryPolicy } from "../../parts/routing.js";
import { typed } from "../../parts/types.js";
import type { Plan } from "../../plan.js";
import { commented, type YamlMap, type YamlValue } from "../../yaml/value.js";
import { aliasesOf, firstTier, isFixed, type PlannedRoute, plannedRoutes } from "../mesh/routes.js";
import { scope } from "./clusters.js";
import { ourFilters } from "./filters.js";
import type { IstioSettings } from "./settings.js";
import type { Tier } from "./tiers.js";

const REMEMBER = "llm.breaker.remember";

/** The name that the user's route has. */
export function routeName(route: PlannedRoute, settings: IstioSettings): string {
  return route.prefix === undefined ? settings.route : `${settings.route}-${route.chain}`;
}

export function routePatches(plan: Plan, tiers: readonly Tier[], settings: IstioSettings): YamlValue[] {
  const routes = plannedRoutes(plan);
  const hasTierRoutes = settings.profile === "tier-routes" || settings.pools.size > 0;
  return [
    ...routes.map((route) => mergedRoute(plan, route, tiers, settings)),
    ...(hasTierRoutes ? routes.flatMap((route) => tierRoutes(plan, route, tiers, settings)) : []),
  ];
}

function mergedRoute(
  plan: Plan,
  route: PlannedRoute,
  tiers: readonly Tier[],
  settings: IstioSettings,
): YamlValue {
  const name = routeName(route, settings);
  return commented(
    `The route ${name}, which stays yours: its match and timeout, and whatever else it has, are kept.`,
    {
      applyTo: "HTTP_ROUTE",
      match: { ...scope(settings), routeConfiguration: { vhost: { route: { name } } } },
      patch: {
        operation: "MERGE",
        value: { ...common(plan, route, tiers, settings), route: action(route, tiers, settings) },
      },
    },
  );
}

/** What every route of ours has, whichever tier it leads to. */
function common(plan: Plan, route: PlannedRoute, tiers: readonly Tier[], settings: IstioSettings): YamlMap {
  const isOn = typed("envoy.config.route.v3.FilterConfig", {
    is_optional: true,
    config: typed("google.protobuf.Empty", { value: {} }),
  });
  const { limits, remembered } = wantsOf(plan);
  const remembers = route.chains.some(({ name }) => remembered.includes(name));
  const names = ourFilters(plan, tiers, settings)
    .map(({ filter }) => String(filter.name))
    .filter((name) => name !== REMEMBER || remembers);
  return {
    metadata: chainMetadata(route.chain),
    typed_per_filter_config: commented(
      "Turns our filters on. Istio takes no empty `config`, Envoy no unknown one: an Empty that is optional passes both, with one warning.",
      Object.fromEntries(names.map((name) => [name, isOn])) as YamlMap,
    ),
    request_body_buffer_limit: REQUEST_BODY_LIMIT,
    response_headers_to_remove: [RETRY_HEADER],
    response_headers_to_add: limits ? limitHeaders() : undefined,
  };
}

function action(route: PlannedRoute, tiers: readonly Tier[], settings: IstioSettings): YamlMap {
  const aliases = aliasesOf(route);
  const own = new Map(
    tiers
      .filter(({ backend }) => aliases.has(backend.alias))
      .map(({ backend, cluster }) => [backend.alias, cluster]),
  );
  const retries = { retry_policy: retryPolicy(route, settings.profile === "failover") };
  if (isFixed(route) || settings.profile === "tier-routes") {
    return { cluster: own.get(firstTier(route)), ...retries };
  }
  return {
    inline_cluster_specifier_plugin: commented(
      "Goes to the backend that the gate, or the meter, has named.",
      {
        extension: clusterMatcher(own),
      },
    ),
    ...retries,
  };
}

/**
 * A route for each tier that the gate may choose in the first one's place. With an InferencePool it has no endpoint picker: what goes
 * elsewhere must neither cost the picker a choice nor be refused by it.
 */
function tierRoutes(
  plan: Plan,
  route: PlannedRoute,
  tiers: readonly Tier[],
  settings: IstioSettings,
): YamlValue[] {
  const aliases = aliasesOf(route);
  const hasOwn = route.chains.length > 1;
  const later = tiers.filter(
    ({ backend: { alias } }) => aliases.has(alias) && (hasOwn || alias !== firstTier(route)),
  );
  return later
    .filter(({ isPool }) => settings.profile === "tier-routes" || !isPool)
    .map((tier) => tierRoute(plan, route, tier, tiers, settings));
}

function tierRoute(
  plan: Plan,
  route: PlannedRoute,
  tier: Tier,
  tiers: readonly Tier[],
  settings: IstioSettings,
): YamlValue {
  const { alias } = tier.backend;
  const name = `${routeName(route, settings)}-${alias}`;
  const leads =
    settings.profile === "tier-routes"
      ? { cluster: tier.cluster, retry_policy: retryPolicy(route, false) }
      : action(route, tiers, settings);
  const value = {
    name,
    match: {
      prefix: route.prefix ?? "/",
      filter_state: [{ key: BACKEND_STATE, string_match: { exact: alias } }],
    },
    ...common(plan, route, tiers, settings),
    route: { timeout: "0s", ...leads },
  };
  return commented(
    `Requests for which the gate has chosen ${alias}. No caller can: filter state is Envoy's own.`,
    {
      applyTo: "HTTP_ROUTE",
      match: {
        ...scope(settings),
        routeConfiguration: { vhost: { route: { name: routeName(route, settings) } } },
      },
      patch: { operation: "INSERT_FIRST", value },
    },
  );
}
