import { endpointsOf, NAMESPACE, STOP_CLUSTER } from "../setup/envoy.js";
import { BY_MODEL } from "../setup/policy.js";
import type { Setup } from "../setup/setup.js";
import type { Found, Rule } from "./rule.js";
import { label } from "./timeouts.js";

const BACKEND_STATE = "wasm.llm.breaker.backend";

/** Matchers, each once, however many routes use them. */
function matchers(setup: Setup) {
  return [
    ...new Map(
      setup.routes.flatMap(({ matcher }) => (matcher ? [[matcher.at, matcher] as const] : [])),
    ).values(),
  ];
}

/** Routes need not, and can't: the policy does it for all requests. */
function namesChain({ policies }: Setup): boolean {
  return policies.some(({ onlyChain }) => onlyChain !== undefined);
}

export const tierRules: readonly Rule[] = [
  {
    id: "route-chain-missing",
    level: "error",
    harm: "every request there gets 503 llm_breaker_no_backend",
    fix: "metadata: { filter_metadata: { llm.breaker: { chain: NAME } } } on the route, or `chain` in the policy",
    *find(setup) {
      if (namesChain(setup)) return;
      // A policy that is missing has its own finding.
      if (setup.policies.length === 0 && setup.gated.length > 0) return;
      for (const route of setup.routes) {
        if (route.matcher && route.chain === undefined)
          yield { at: route.at, what: `${label(route)} goes where the gate says, and names no chain` };
      }
    },
  },
  {
    id: "route-chain-unknown",
    level: "error",
    harm: "every request there gets 503 llm_breaker_unknown_chain",
    fix: "one of the policy's chains, or by-model",
    *find(setup) {
      const names = new Set(setup.chains.map(({ name }) => name));
      if (names.size === 0 || namesChain(setup)) return;
      for (const route of setup.routes) {
        const chain = route.chain;
        if (chain?.text === undefined || chain.text === BY_MODEL || names.has(chain.text)) continue;
        yield {
          at: chain,
          what: `${label(route)} names chain ${chain.text}, and the policy has ${[...names].join(", ")}`,
        };
      }
    },
  },
  {
    id: "route-chain-overruled",
    level: "warning",
    harm: "the policy's own `chain` is that of every request: the route's is never looked at",
    fix: "one of the two: the route's metadata go, or the policy's `chain`",
    *find(setup) {
      const [only] = new Set(setup.policies.map(({ onlyChain }) => onlyChain));
      if (only === undefined) return;
      for (const route of setup.routes) {
        const named = route.chain?.text;
        if (route.chain === undefined || named === undefined || named === only) continue;
        yield { at: route.chain, what: `${label(route)} names chain ${named}, and the policy ${only}` };
      }
    },
  },
  {
    id: "route-not-by-matcher",
    level: "error",
    harm: "whatever the gate names, the request goes to that one cluster: there is no fallback and no failover",
    fix: 'cluster_specifier_plugin with the matcher of envoy/full.yaml in place of the route\'s cluster; or a chain of one tier with "routing": "fixed"; or, where the breaker has no business, typed_per_filter_config that disables llm.breaker.gate',
    *find(setup) {
      const byTier = new Set(
        [...new Set(setup.routes.map(({ host }) => host))].filter((host) => host && hasTierRoutes(host)),
      );
      for (const route of setup.routes) {
        const chains = setup.chainsOf(route).filter(({ isFixed, tiers }) => !isFixed && tiers.length > 1);
        const cluster = ["cluster", "weighted_clusters", "cluster_header"]
          .map((kind) => route.action.get(kind))
          .find(Boolean);
        if (
          route.isPart ||
          route.matcher ||
          chains.length === 0 ||
          cluster === undefined ||
          byTier.has(route.host)
        )
          continue;
        yield {
          at: cluster,
          what: `${label(route)} names its cluster itself, and its chain has ${chains[0]?.tiers.length} tiers`,
        };
      }
    },
  },
  {
    id: "plugin-unknown",
    level: "error",
    harm: "Envoy refuses the file",
    fix: "an entry of that name in the route configuration's cluster_specifier_plugins",
    *find(setup) {
      for (const route of setup.tables.flatMap((table) =>
        table.list("virtual_hosts").flatMap((host) => host.list("routes").map((at) => ({ at, table }))),
      )) {
        const plugin = route.at.get("route", "cluster_specifier_plugin");
        const known = route.table
          .list("cluster_specifier_plugins")
          .map((each) => each.textOf("extension", "name"));
        if (plugin && !known.includes(plugin.text))
          yield { at: plugin, what: `no cluster_specifier_plugins entry is called ${plugin.text}` };
      }
    },
  },
  {
    id: "matcher-state",
    level: "error",
    harm: "it never finds a backend's name there: every request goes to on_no_match",
    fix: `FilterStateInput with key: ${BACKEND_STATE}`,
    *find(setup) {
      for (const { at, stateKey } of matchers(setup)) {
        if (stateKey !== BACKEND_STATE) yield { at, what: `the matcher looks at ${stateKey ?? "nothing"}` };
      }
    },
  },
  {
    id: "matcher-backend-missing",
    level: "error",
    harm: "requests that the gate sends to that backend end at once: 503 llm_breaker_no_backend",
    fix: "a line for it in the matcher's exact_match_map",
    *find(setup) {
      for (const { at, clusters } of matchers(setup)) {
        for (const alias of new Set(
          setup.chains.filter(({ isFixed }) => !isFixed).flatMap(({ tiers }) => tiers),
        )) {
          if (!clusters.has(alias))
            yield { at, what: `backend ${alias} is in a chain, and not in the matcher's map` };
        }
      }
    },
  },
  {
    id: "matcher-backend-extra",
    level: "warning",
    harm: "nothing names it: the line is left over, or misspelt",
    fix: "only aliases of the policy's backends in the map",
    *find(setup) {
      // One that can't be read names no backend, and has its own finding.
      if (setup.policies.every(({ backends }) => backends.size === 0)) return;
      for (const { clusters } of matchers(setup)) {
        for (const [alias, cluster] of clusters) {
          if (!setup.policies.some(({ backends }) => backends.has(alias)))
            yield { at: cluster, what: `the policy has no backend ${alias}` };
        }
      }
    },
  },
  {
    id: "matcher-cluster-differs",
    level: "error",
    harm: "callers go to the one cluster and probes to the other: the breaker judges a backend by another one",
    fix: "the same cluster in the map and in the policy's backends.<alias>.cluster (the alias, if that is absent)",
    *find(setup) {
      for (const { clusters } of matchers(setup)) {
        for (const [alias, cluster] of clusters) {
          const wanted = setup.policies.flatMap(({ backends }) => backends.get(alias)?.cluster ?? []);
          if (wanted.length === 0 || wanted.includes(cluster.text ?? "")) continue;
          yield {
            at: cluster,
            what: `the map sends ${alias} to ${cluster.text}, the policy to ${wanted.join(", ")}`,
          };
        }
      }
    },
  },
  {
    id: "matcher-on-no-match",
    level: "error",
    harm: "an unknown name, or a gate that did not run, falls through to a backend that the breaker may have closed off, or Envoy has no answer",
    fix: `on_no_match to the cluster ${STOP_CLUSTER}`,
    *find(setup) {
      for (const { at, otherwise } of matchers(setup)) {
        if (otherwise?.text === STOP_CLUSTER) continue;
        const goesTo = otherwise?.text ?? (otherwise ? "what is no cluster" : "nothing");
        yield { at: otherwise ?? at, what: `on_no_match of the matcher goes to ${goesTo}` };
      }
    },
  },
  {
    id: "cluster-unknown",
    level: "error",
    harm: "requests for it get 503 cluster_not_found, and no filter of a cluster runs",
    fix: "a cluster of that name; see `One backend more` in docs/configuration.md",
    *find(setup) {
      if (!setup.knowsClusters) return;
      const known = new Set(setup.clusters.map(({ name }) => name));
      const isKnown = (name: string | undefined) => name !== undefined && known.has(name);
      for (const { clusters, otherwise } of matchers(setup)) {
        for (const [alias, cluster] of clusters) {
          if (!isKnown(cluster.text))
            yield { at: cluster, what: `there is no cluster ${cluster.text} for backend ${alias}` };
        }
        if (otherwise?.text && !isKnown(otherwise.text))
          yield { at: otherwise, what: `there is no cluster ${otherwise.text}` };
      }
      for (const { backends, serviceCluster, root, at } of setup.policies) {
        for (const { alias, cluster, at: node } of backends.values()) {
          if (!isKnown(cluster))
            yield { at: node, what: `there is no cluster ${cluster} for backend ${alias}` };
        }
        if (serviceCluster && !isKnown(serviceCluster))
          yield {
            at: root.at("service", "cluster") ?? at,
            what: `there is no cluster ${serviceCluster} for the service`,
          };
      }
      for (const { at, config } of setup.serviceFilters) {
        const cluster = config.get("grpc_service", "envoy_grpc", "cluster_name");
        if (cluster && !isKnown(cluster.text))
          yield { at: cluster, what: `there is no cluster ${cluster.text} for ${at.textOf("name")}` };
      }
    },
  },
  {
    id: "stop-cluster-missing",
    level: "error",
    harm: "a request for which no tier is left gets Envoy's generic text, whatever the tiers said",
    fix: `the cluster ${STOP_CLUSTER} of envoy/full.yaml: a host that refuses, and the meter`,
    *find(setup) {
      const [matcher] = matchers(setup);
      const isKnown = setup.knowsClusters || setup.objectsOf("EnvoyFilter").length > 0;
      if (!isKnown || matcher === undefined || setup.stopClusters.length > 0) return;
      yield { at: matcher.at, what: `there is no cluster ${STOP_CLUSTER}` };
    },
  },
  {
    id: "stop-cluster-host",
    level: "error",
    harm: "without a host no filter of it runs: callers get Envoy's generic text",
    fix: "one endpoint that refuses connections, such as 127.0.0.1:1",
    *find(setup) {
      for (const cluster of setup.stopClusters) {
        if (endpointsOf(cluster).length === 0)
          yield { at: cluster.at, what: `${STOP_CLUSTER} has no endpoint` };
      }
    },
  },
  {
    id: "metadata-namespace",
    level: "error",
    harm: "the filter does not see it: the route has no chain, or the cluster no backend, and nothing is logged",
    fix: `filter_metadata: { ${NAMESPACE}: … }`,
    *find(setup) {
      for (const at of [
        ...setup.routes.map(({ at: each }) => each),
        ...setup.tables.flatMap(routesIn),
        ...setup.clusters.map(({ at: each }) => each),
      ]) {
        yield* misspelt(at);
      }
    },
  },
];

function routesIn(table: Found["at"]): readonly Found["at"][] {
  return table.list("virtual_hosts").flatMap((host) => host.list("routes"));
}

function* misspelt(at: Found["at"]): Iterable<Found> {
  for (const [namespace, value] of at.get("metadata", "filter_metadata")?.fields ?? []) {
    const letters = namespace.toLowerCase().replaceAll(/[^a-z]/g, "");
    if (
      namespace === NAMESPACE ||
      !/^(envoy|io|com)?(llm|llms)?(breakers?|circuitbreaker)$|llmb?reake?r/.test(letters)
    )
      continue;
    yield { at: value, what: `metadata stand under ${namespace}` };
  }
}

/** A route for each tier, in place of the matcher. */
function hasTierRoutes(host: Found["at"]): boolean {
  return host.list("routes").some((route) => route.list("match", "filter_state").length > 0);
}
