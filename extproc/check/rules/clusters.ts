import { type Cluster, endpointsOf } from "../setup/envoy.js";
import type { HttpFilter } from "../setup/filters.js";
import type { Setup } from "../setup/setup.js";
import { meshEjections, meshMaxRetries } from "./mesh-routes.js";
import type { Found, Rule } from "./rule.js";

/** Far more than callers at once; a slot is held until the retry's first token. */
const WIDE = 1000;
const DEFAULT_LIMIT = 1024;
const PRIORITIES = ["DEFAULT", "HIGH"] as const;

/** Backends that stand in the files whole. */
function whole(setup: Setup): readonly Cluster[] {
  return setup.backends.filter(({ isPart }) => !isPart);
}

function thresholds({ at }: Cluster): ReadonlyMap<string, Found["at"]> {
  return new Map(
    at.list("circuit_breakers", "thresholds").map((each) => [each.textOf("priority") ?? "DEFAULT", each]),
  );
}

/** Priorities that routes use; all where no routes are in the files. */
function priorities(setup: Setup): readonly string[] {
  if (setup.routes.length === 0) return PRIORITIES;
  return PRIORITIES.filter((priority) =>
    setup.routes.some(({ action }) => (action.textOf("priority") ?? "DEFAULT") === priority),
  );
}

function retries(setup: Setup): boolean {
  return setup.chains.length === 0 || setup.chains.some(({ maxAttempts }) => maxAttempts > 1);
}

export const clusterRules: readonly Rule[] = [
  {
    id: "max-retries",
    level: "error",
    harm: "the first cluster's limit holds a slot until the retry's first token: the next caller at once gets a bare 500",
    fix: "circuit_breakers.thresholds with max_retries: 100000 for priority DEFAULT and for HIGH, on every cluster of a chain",
    *find(setup) {
      if (!retries(setup)) return;
      for (const cluster of [...setup.backends, ...setup.stopClusters]) {
        const present = thresholds(cluster);
        if (cluster.isPart && present.size === 0) continue;
        for (const priority of priorities(setup)) {
          const threshold = present.get(priority);
          if (threshold?.get("retry_budget")) continue;
          const limit = threshold?.numberOf("max_retries");
          if (limit !== undefined && limit >= WIDE) continue;
          yield {
            at: threshold ?? cluster.at.get("circuit_breakers") ?? cluster.at,
            what: `max_retries of cluster ${cluster.name}, priority ${priority}, is ${limit ?? "3, Envoy's default"}`,
          };
        }
      }
      yield* meshMaxRetries(setup);
    },
  },
  {
    id: "retry-budget",
    level: "error",
    harm: "20 % of the requests on a cluster that fails at once is next to nothing: callers get bare 500s in the very outage",
    fix: "max_retries: 100000 in its place; or budget_percent 100 and min_retry_concurrency above the callers at once",
    *find(setup) {
      for (const cluster of [...setup.backends, ...setup.stopClusters]) {
        for (const [priority, threshold] of thresholds(cluster)) {
          const budget = threshold.get("retry_budget");
          if (budget === undefined || (budget.numberOf("min_retry_concurrency") ?? 3) >= WIDE) continue;
          yield {
            at: budget,
            what: `cluster ${cluster.name}, priority ${priority}, has a retry budget of at least ${budget.textOf("min_retry_concurrency") ?? 3}`,
          };
        }
      }
    },
  },
  {
    id: "connections-below-requests",
    level: "warning",
    harm: "HTTP/1 requests queue for a connection, and their wait is nobody's; with the queue full it is a text 503 that no tier answers",
    fix: "max_connections and max_pending_requests at least as many as max_requests",
    *find(setup) {
      for (const cluster of setup.backends) {
        for (const [priority, threshold] of thresholds(cluster)) {
          const requests = threshold.numberOf("max_requests") ?? DEFAULT_LIMIT;
          const connections = threshold.numberOf("max_connections") ?? DEFAULT_LIMIT;
          if (
            connections >= requests ||
            cluster.options?.get("explicit_http_config", "http2_protocol_options")
          )
            continue;
          yield {
            at: threshold,
            what: `cluster ${cluster.name}, priority ${priority}, takes ${requests} requests over ${connections} connections`,
          };
        }
      }
    },
  },
  {
    id: "bulkhead-above-envoys",
    level: "error",
    harm: "Envoy refuses with a bare 503 before the gate can name the next tier",
    fix: "max_requests of every priority in use above the policy's maxConcurrentCalls",
    *find(setup) {
      for (const cluster of setup.backends) {
        const calls = setup.policies.flatMap(
          ({ backends }) => backends.get(cluster.alias)?.maxConcurrentCalls ?? [],
        )[0];
        if (calls === undefined) continue;
        for (const priority of priorities(setup)) {
          const threshold = thresholds(cluster).get(priority);
          const requests = threshold?.numberOf("max_requests") ?? DEFAULT_LIMIT;
          if (requests > calls || cluster.isPart) continue;
          yield {
            at: threshold ?? cluster.at,
            what: `cluster ${cluster.name}, priority ${priority}, takes ${requests} requests, and maxConcurrentCalls is ${calls}`,
          };
        }
      }
    },
  },
  {
    id: "sink-missing",
    level: "error",
    harm: "while it has no host no filter runs, Envoy answers a text 503, and no other tier is asked",
    fix: "an endpoint at priority 1 that refuses connections (127.0.0.1:1) with overprovisioning_factor: 100000; for EDS an aggregate cluster of it and a sink",
    *find(setup) {
      for (const cluster of whole(setup)) {
        if (
          cluster.at.get("cluster_type") &&
          cluster.at.textOf("cluster_type", "name") === "envoy.clusters.aggregate"
        )
          continue;
        if (endpointsOf(cluster).some(({ priority }) => priority > 0)) continue;
        yield {
          at: cluster.at.get("load_assignment") ?? cluster.at,
          what: `cluster ${cluster.name} has no sink`,
        };
      }
    },
  },
  {
    id: "sink-takes-traffic",
    level: "error",
    harm: "as soon as some hosts are unhealthy a share of the requests goes to the sink, and fails",
    fix: "policy: { overprovisioning_factor: 100000 } in the load_assignment",
    *find(setup) {
      for (const cluster of whole(setup)) {
        const factor = cluster.at.numberOf("load_assignment", "policy", "overprovisioning_factor") ?? 140;
        if (factor >= 10_000 || !endpointsOf(cluster).some(({ priority }) => priority > 0)) continue;
        yield {
          at: cluster.at.get("load_assignment") ?? cluster.at,
          what: `overprovisioning_factor of cluster ${cluster.name} is ${factor}`,
        };
      }
    },
  },
  {
    id: "logical-dns-sink",
    level: "error",
    harm: "Envoy refuses the file: such a cluster has room for one endpoint",
    fix: "type: STRICT_DNS",
    *find(setup) {
      for (const cluster of setup.clusters) {
        const type = cluster.at.get("type");
        if (type?.text === "LOGICAL_DNS" && endpointsOf(cluster).length > 1)
          yield {
            at: type,
            what: `cluster ${cluster.name} is LOGICAL_DNS with ${endpointsOf(cluster).length} endpoints`,
          };
      }
    },
  },
  {
    id: "meter-missing",
    level: "error",
    harm: "nothing of what happens there is seen: its breaker never opens, and its failures are not failed over",
    fix: "llm.breaker.meter first in the http_filters of the cluster's HttpProtocolOptions, for the stop cluster, too",
    *find(setup) {
      for (const cluster of [...setup.backends, ...setup.stopClusters]) {
        if (cluster.filters.some(({ role }) => role === "meter")) continue;
        if (cluster.isPart && cluster.options === undefined) continue;
        yield { at: cluster.options ?? cluster.at, what: `cluster ${cluster.name} has no meter` };
      }
    },
  },
  {
    id: "meter-not-first",
    level: "error",
    harm: "what stands before it works on what an earlier tier's attempt left: its key, path and host",
    fix: "order: meter, rewrite, guard, credential_injector, upstream_codec",
    *find(setup) {
      for (const { filters } of [...setup.backends, ...setup.stopClusters]) {
        const at = filters.findIndex(({ role }) => role === "meter");
        if (at > 0)
          yield {
            at: (filters[at] as HttpFilter).at,
            what: `${filters[at]?.name} stands behind ${filters[0]?.name}`,
          };
      }
    },
  },
  {
    id: "codec-not-last",
    level: "error",
    harm: "Envoy refuses the file: a cluster's filters end with their codec",
    fix: "envoy.filters.http.upstream_codec as the last of the cluster's http_filters",
    *find(setup) {
      for (const { filters, name } of setup.clusters) {
        const last = filters.at(-1);
        if (last && last.role !== "codec")
          yield { at: last.at, what: `the last filter of cluster ${name} is ${last.name}` };
      }
    },
  },
  {
    id: "outlier-ejection-long",
    level: "error",
    harm: "the breaker has recovered, and Envoy still has no host",
    fix: "outlier_detection: { consecutive_5xx: 5, base_ejection_time: 5s, max_ejection_time: 30s, max_ejection_percent: 50 }",
    *find(setup) {
      for (const cluster of setup.backends) {
        const detection = cluster.at.get("outlier_detection");
        if (detection === undefined) continue;
        const backend = setup.policies.flatMap(({ backends }) => backends.get(cluster.alias) ?? [])[0];
        const baseMs = detection.millisecondsOf("base_ejection_time") ?? 30_000;
        const maxMs = detection.millisecondsOf("max_ejection_time") ?? 300_000;
        if (baseMs <= (backend?.waitMs ?? 5000) && maxMs <= (backend?.maxWaitMs ?? 120_000)) continue;
        yield {
          at: detection,
          what: `cluster ${cluster.name} ejects a host for ${baseMs / 1000} to ${maxMs / 1000} s`,
        };
      }
      yield* meshEjections(setup);
    },
  },
  {
    id: "outlier-one-host",
    level: "warning",
    harm: "in-band errors are 5xx to Envoy, too: it ejects the only host, and even the probe finds none",
    fix: "outlier_detection only where a cluster has two hosts or more",
    *find(setup) {
      for (const cluster of whole(setup)) {
        const detection = cluster.at.get("outlier_detection");
        const isFixed =
          ["STATIC", undefined].includes(cluster.at.textOf("type")) &&
          cluster.at.get("cluster_type") === undefined;
        const hosts = endpointsOf(cluster).filter(({ priority }) => priority === 0).length;
        if (detection && isFixed && hosts < 2)
          yield {
            at: detection,
            what: `cluster ${cluster.name} has ${hosts === 1 ? "one host" : "no host"} to eject`,
          };
      }
    },
  },
  {
    id: "panic-threshold",
    level: "warning",
    harm: "with all hosts unhealthy requests end in Envoy, where no tier is asked, in place of at a host",
    fix: "leave common_lb_config.healthy_panic_threshold at its default",
    *find(setup) {
      for (const { at, name } of setup.backends) {
        const threshold = at.get("common_lb_config", "healthy_panic_threshold");
        if (threshold && (threshold.numberOf("value") ?? 0) === 0)
          yield { at: threshold, what: `the panic threshold of cluster ${name} is 0` };
      }
    },
  },
];
