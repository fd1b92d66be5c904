import { readRules, USUAL_KEYS } from "../../rewrite/rules.js";
import type { Cluster } from "../setup/envoy.js";
import type { Setup } from "../setup/setup.js";
import type { Rule } from "./rule.js";

/** As filter/meter/cluster.ts reads them; `sink` is an endpoint's. */
const METER_KEYS = ["backend", "credentials", "host", "path", "pathPrefix", "query", "loadMetrics"];
const DEGRADED_KEYS = ["degradedMaxOutputTokens", "degradedRemove"];
const KNOWN_KEYS = [...METER_KEYS, ...USUAL_KEYS, ...DEGRADED_KEYS];
const ROUTE_KEYS = ["chain", "class"];

export function rewrites({ metadata }: Cluster): boolean {
  return USUAL_KEYS.some((key) => metadata.has(key));
}

function knownAliases(setup: Setup): ReadonlySet<string> {
  return new Set(setup.policies.flatMap(({ backends }) => [...backends.keys()]));
}

function withMetadata(setup: Setup): readonly Cluster[] {
  return setup.clusters.filter(({ metadata }) => metadata.size > 0);
}

export const backendRules: readonly Rule[] = [
  {
    id: "backend-unknown",
    level: "error",
    harm: "its meter files nothing: that backend's breaker never opens; the log says `is no backend of the request's chain`",
    fix: "metadata: { filter_metadata: { llm.breaker: { backend: ALIAS } } } on the cluster, ALIAS as in the policy's backends",
    *find(setup) {
      const aliases = knownAliases(setup);
      if (aliases.size === 0) return;
      for (const { at, metadata, alias, name } of setup.backends) {
        if (!aliases.has(alias))
          yield {
            at: metadata.get("backend") ?? at,
            what: `cluster ${name} is backend ${alias}, and the policy has ${[...aliases].join(", ")}`,
          };
      }
    },
  },
  {
    id: "probe-cluster",
    level: "error",
    harm: "probes can't be sent, or go elsewhere: once Open the backend stays so",
    fix: "backends.<alias>.cluster in the policy: the cluster's name, where it is not the alias",
    *find(setup) {
      for (const { at, alias, name, metadata } of setup.backends) {
        if (!metadata.has("backend")) continue;
        const backend = setup.policies.flatMap(({ backends }) => backends.get(alias) ?? [])[0];
        const others = setup.backends.filter((each) => each.alias === alias).map((each) => each.name);
        const isService = backend?.cluster.split("|").at(-1) === name;
        if (backend && !isService && !others.includes(backend.cluster))
          yield {
            at: metadata.get("backend") ?? at,
            what: `cluster ${name} is backend ${alias}, whose probes go to cluster ${backend.cluster}`,
          };
      }
    },
  },
  {
    id: "metadata-key-unknown",
    level: "error",
    harm: "nobody reads it: a misspelt rule is silently off",
    fix: `of a cluster: ${KNOWN_KEYS.join(", ")}; of a route: ${ROUTE_KEYS.join(", ")}`,
    *find(setup) {
      for (const { metadata, name } of withMetadata(setup)) {
        for (const [key, value] of metadata)
          if (!KNOWN_KEYS.includes(key)) yield { at: value, what: `cluster ${name} has ${key}` };
      }
      for (const { at, name } of setup.routes) {
        for (const [key, value] of at.get("metadata", "filter_metadata")?.at("llm.breaker")?.fields ?? []) {
          if (!ROUTE_KEYS.includes(key)) yield { at: value, what: `route ${name} has ${key}` };
        }
      }
    },
  },
  {
    id: "metadata-value",
    level: "error",
    harm: "the value is passed over: the rule is off",
    fix: "a value as in `Routes and clusters` of docs/configuration.md; all are texts",
    *find(setup) {
      for (const { metadata, name, at } of withMetadata(setup)) {
        const texts = new Map(
          [...metadata].flatMap(([key, value]) =>
            value.text === undefined ? [] : [[key, value.text] as const],
          ),
        );
        for (const problem of readRules(texts).problems) {
          const key = KNOWN_KEYS.find((each) => problem.includes(`: ${each} `));
          yield {
            at: (key && metadata.get(key)) || at,
            what: `cluster ${name}: ${problem.replace(/^.*?: /, "").replace(/, ignored$/, "")}`,
          };
        }
        const load = metadata.get("loadMetrics");
        if (load && !/^(text|json)$/i.test(load.text ?? ""))
          yield { at: load, what: `cluster ${name}: loadMetrics must be text or json, got ${load.text}` };
        const credentials = metadata.get("credentials");
        if (credentials && credentials.text !== "own")
          yield {
            at: credentials,
            what: `cluster ${name}: credentials must be own, got ${credentials.text}`,
          };
        const value = METER_KEYS.map((key) => metadata.get(key)).find(
          (each) => each && typeof each.content !== "string",
        );
        if (value) yield { at: value, what: `cluster ${name}: ${value.text ?? "that"} is no text` };
        if (metadata.has("path") && (metadata.has("pathPrefix") || metadata.has("dialect")))
          yield {
            at: metadata.get("path") ?? at,
            what: `cluster ${name}: path goes with neither pathPrefix nor dialect`,
          };
      }
    },
  },
  {
    id: "meter-told",
    level: "error",
    harm: "the meter goes by what it is told: attempts are filed for another backend than the files say, or keys go where none should",
    fix: 'the cluster\'s metadata once more, whole: configuration: { "@type": type.googleapis.com/google.protobuf.Struct, value: … }, by a YAML anchor at best; or no configuration, and each attempt reads the metadata',
    *find(setup) {
      for (const { metadata, told, name, isPart } of setup.backends) {
        if (told === undefined || (isPart && metadata.size === 0)) continue;
        if (!told.keys.has("backend"))
          yield { at: told.at, what: `the meter of cluster ${name} is told no backend` };
        for (const key of new Set([...metadata.keys(), ...told.keys.keys()])) {
          const [said, heard] = [metadata.get(key), told.keys.get(key)];
          if (said?.text === heard?.text || (key === "backend" && heard === undefined)) continue;
          yield {
            at: heard ?? told.at,
            what: `cluster ${name} has ${key} ${said?.text ?? "nowhere"} in its metadata, and its meter is told ${heard?.text ?? "none"}`,
          };
        }
      }
    },
  },
  {
    id: "rewrite-missing",
    level: "error",
    harm: "the backend gets a body made for another one, or with the guard none at all",
    fix: "llm.breaker.rewrite and llm.breaker.guard behind the meter, as on `small` in envoy/full.yaml",
    *find(setup) {
      for (const cluster of setup.backends) {
        if (!rewrites(cluster) || (cluster.isPart && !cluster.options)) continue;
        if (!cluster.filters.some(({ role }) => role === "rewrite"))
          yield {
            at: cluster.options ?? cluster.at,
            what: `cluster ${cluster.name} asks for another body and has no rewrite`,
          };
      }
    },
  },
  {
    id: "guard-missing",
    level: "error",
    harm: "while the service is away a backend gets a body made for another one",
    fix: "llm.breaker.guard behind llm.breaker.rewrite",
    *find(setup) {
      for (const { filters, name, metadata } of setup.backends) {
        const rewrite = filters.findIndex(({ role }) => role === "rewrite");
        const isOnlyDegraded = metadata.size > 0 && !rewrites({ metadata } as Cluster);
        if (rewrite < 0 || isOnlyDegraded || filters.slice(rewrite).some(({ role }) => role === "guard"))
          continue;
        yield {
          at: filters[rewrite]?.at as Cluster["at"],
          what: `cluster ${name} has no guard behind its rewrite`,
        };
      }
    },
  },
  {
    id: "rewrites-body",
    level: "warning",
    harm: "while the service is away the tier costs each request a try, or is passed over for nothing",
    fix: '"rewritesBody": true in the policy exactly where the cluster\'s metadata ask for another body',
    *find(setup) {
      for (const cluster of setup.backends) {
        const backend = setup.policies.flatMap(({ backends }) => backends.get(cluster.alias) ?? [])[0];
        if (backend === undefined || backend.rewritesBody === rewrites(cluster)) continue;
        const what = backend.rewritesBody
          ? `backend ${backend.alias} has rewritesBody, and its cluster asks for no other body`
          : `backend ${backend.alias} has no rewritesBody, and its cluster asks for another body`;
        yield { at: backend.at, what };
      }
    },
  },
  {
    id: "load-metrics-lb",
    level: "error",
    harm: "the load balancer reads that header behind the meter, which has taken it away",
    fix: "no loadMetrics on a cluster with client_side_weighted_round_robin",
    *find(setup) {
      for (const { at, metadata, name } of withMetadata(setup)) {
        const policies = at
          .list("load_balancing_policy", "policies")
          .map((each) => each.textOf("typed_extension_config", "name") ?? "");
        const load = metadata.get("loadMetrics");
        if (load && policies.some((each) => each.includes("client_side_weighted_round_robin")))
          yield { at: load, what: `cluster ${name} has both` };
      }
    },
  },
];
