import type { Plan } from "../plan.js";
import { policyNaming } from "../policy-text.js";
import { commented, type YamlMap } from "../yaml/value.js";
import { downstreamFilters, wantsOf } from "./filters.js";
import { LOCAL_REPLIES, limitHeaders, usageLog } from "./replies.js";
import { clusterMatcher, hasMatcher, onlyChain, routesOf } from "./routing.js";
import { extension } from "./types.js";
import type { UpstreamPlace } from "./upstream.js";

/** holdLimit and a cluster's limit must stay below it. */
export const LISTENER_BUFFER_BYTES = commented(
  "TRAP: a held answer over the LISTENER's limit is a bare 500. holdLimit + a cluster's limit must stay below it.",
  2_097_152,
);

export const STREAM_IDLE_TIMEOUT = commented(
  "TRAP: 5 minutes of silence would end a long answer, or a failover on its way.",
  "900s",
);

export const JSON_REPLIES = commented(
  "Replies that Envoy makes itself become JSON with Retry-After. The breaker's own pass as they are.",
  LOCAL_REPLIES,
);

/** A body over the listener's limit would be retried by nobody. */
export const REQUEST_BODY_LIMIT = commented(
  "TRAP: without it the retry of a body over the listener's limit is dropped silently. Above it: 413, as JSON.",
  16_777_216,
);

/** By which the meter asks Envoy for a retry. */
export const RETRY_HEADER = "x-llm-breaker-retry";

const ROUTER = extension("envoy.filters.http.router", "envoy.extensions.filters.http.router.v3.Router", {
  suppress_envoy_headers: commented("Backends are not told our timeouts.", true),
});

/** Where callers come to. */
export function listener(plan: Plan, place: UpstreamPlace, canChangeCluster: boolean): YamlMap {
  const [, host = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(plan.listen) ?? [];
  return {
    name: plan.name,
    address: commented("No TLS and no authentication here: put yours in front of the gate.", {
      socket_address: { address: host, port_value: Number(port) },
    }),
    per_connection_buffer_limit_bytes: LISTENER_BUFFER_BYTES,
    filter_chains: [{ filters: [connectionManager(plan, place, canChangeCluster)] }],
  };
}

function connectionManager(plan: Plan, place: UpstreamPlace, canChangeCluster: boolean): YamlMap {
  const { limits } = wantsOf(plan);
  return extension(
    "envoy.filters.network.http_connection_manager",
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    {
      stat_prefix: plan.name,
      stream_idle_timeout: STREAM_IDLE_TIMEOUT,
      access_log: limits && place.serviceCluster !== undefined ? [usageLog(place.serviceCluster)] : undefined,
      local_reply_config: JSON_REPLIES,
      http_filters: [
        ...downstreamFilters({ ...plan, policy: policyNaming(plan.policy, onlyChain(plan)) }, place),
        ROUTER,
      ],
      route_config: {
        name: plan.name,
        response_headers_to_remove: commented(
          "Never for clients' eyes; the filter also strips it from what backends send.",
          [RETRY_HEADER],
        ),
        response_headers_to_add: limits ? limitHeaders() : undefined,
        cluster_specifier_plugins: hasMatcher(plan) ? [{ extension: matcherOf(plan) }] : undefined,
        virtual_hosts: [virtualHost(plan, canChangeCluster)],
      },
    },
  );
}

/** One line a backend. */
export function matcherOf({ backends }: Pick<Plan, "backends">): YamlMap {
  return clusterMatcher(new Map(backends.map(({ alias, cluster }) => [alias, cluster])));
}

function virtualHost(plan: Plan, canChangeCluster: boolean): YamlMap {
  return {
    name: plan.name,
    domains: ["*"],
    request_body_buffer_limit: REQUEST_BODY_LIMIT,
    routes: routesOf(plan, canChangeCluster),
  };
}
