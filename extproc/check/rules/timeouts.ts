import type { Route } from "../setup/envoy.js";
import { Setup } from "../setup/setup.js";
import { meshTimeouts } from "./mesh-routes.js";
import type { Rule } from "./rule.js";

const DEFAULT_ROUTE_TIMEOUT = "15 s, Envoy's default";
const DEFAULT_STREAM_IDLE_MS = 300_000;

export const timeoutRules: readonly Rule[] = [
  {
    id: "route-timeout",
    level: "error",
    harm: "Envoy ends every answer, streams too, when it is over, and a failover in the middle",
    fix: "timeout: 0s on the route; the breaker and per_try_timeout bound each attempt",
    *find(setup) {
      for (const route of setup.routes) {
        const timeoutMs = route.action.millisecondsOf("timeout");
        if (timeoutMs === 0 || (route.isPart && timeoutMs === undefined)) continue;
        const longestMs = Setup.answerTimeout(setup.chainsOf(route));
        if (timeoutMs !== undefined && timeoutMs >= longestMs + deadline(setup, route)) continue;
        const limit = route.action.textOf("timeout") ?? DEFAULT_ROUTE_TIMEOUT;
        yield {
          at: route.action.get("timeout") ?? route.at,
          what: `the whole answer of ${label(route)} may take ${limit}`,
        };
      }
      yield* meshTimeouts(setup);
    },
  },
  {
    id: "per-try-timeout",
    level: "error",
    harm: "a server that accepts a request and stays silent holds its caller, who never gets the next tier",
    fix: "per_try_timeout in its retry_policy, as long as the chain's answerTimeout (120s by default)",
    *find(setup) {
      for (const route of setup.routes) {
        if (route.retryPolicy?.get("per_try_timeout") || (route.isPart && !route.retryPolicy)) continue;
        yield { at: route.retryPolicy ?? route.at, what: `${label(route)} has no per_try_timeout` };
      }
    },
  },
  {
    id: "per-try-timeout-differs",
    level: "warning",
    harm: "an answer in one piece is cut before, or long after, the chain's answerTimeout says",
    fix: "per_try_timeout as long as the longest answerTimeout of the route's chains",
    *find(setup) {
      for (const route of setup.routes) {
        const timeout = route.retryPolicy?.get("per_try_timeout");
        const wantedMs = Setup.answerTimeout(setup.chainsOf(route));
        if (timeout === undefined || wantedMs === 0) continue;
        if (route.retryPolicy?.millisecondsOf("per_try_timeout") === wantedMs) continue;
        const what = `per_try_timeout of ${label(route)} is ${timeout.text}, answerTimeout ${wantedMs / 1000}s`;
        yield { at: timeout, what, fix: `per_try_timeout: ${wantedMs / 1000}s` };
      }
    },
  },
  {
    id: "per-try-idle-timeout",
    level: "warning",
    harm: "it does not see held bytes: an answer that is held, or read slowly by its caller, is cut though the backend is well",
    fix: "no per_try_idle_timeout; the chain's stallTimeout does it",
    *find(setup) {
      for (const route of setup.routes) {
        const timeout = route.retryPolicy?.get("per_try_idle_timeout");
        if (timeout) yield { at: timeout, what: `${label(route)} has a per_try_idle_timeout` };
      }
    },
  },
  {
    id: "stream-idle-timeout",
    level: "error",
    harm: "a 504 in the middle of a failover, or of a long answer that is being held, and it is not retried",
    fix: "stream_idle_timeout: 900s on the connection manager (or idle_timeout on the route)",
    *find(setup) {
      for (const connections of setup.gated) {
        if (connections.isPart) continue;
        const needed = Math.max(
          0,
          ...setup.chains.map(({ answerTimeoutMs, attemptsDeadlineMs, maxAttempts }) => {
            return answerTimeoutMs + (maxAttempts > 1 ? attemptsDeadlineMs : 0);
          }),
        );
        const idleMs = connections.at.millisecondsOf("stream_idle_timeout");
        if (idleMs === 0 || (idleMs ?? DEFAULT_STREAM_IDLE_MS) > needed) continue;
        const limit = connections.at.textOf("stream_idle_timeout") ?? "5 minutes, Envoy's default";
        yield {
          at: connections.at.get("stream_idle_timeout") ?? connections.at,
          what: `a stream may be silent for ${limit}, and a request may take ${needed / 1000} s before its first byte`,
        };
      }
      for (const route of setup.routes) {
        const idleMs = route.action.millisecondsOf("idle_timeout");
        if (
          idleMs === undefined ||
          idleMs === 0 ||
          idleMs > Setup.answerTimeout(setup.chainsOf(route)) + deadline(setup, route)
        )
          continue;
        yield {
          at: route.action.get("idle_timeout") ?? route.at,
          what: `${label(route)} may be silent for ${idleMs / 1000} s`,
        };
      }
    },
  },
  {
    id: "max-stream-duration",
    level: "warning",
    harm: "long streamed answers are cut, however well they go",
    fix: "no max_stream_duration where answers of models pass",
    *find(setup) {
      for (const { at } of setup.gated) {
        const limit = at.get("common_http_protocol_options", "max_stream_duration");
        if (limit && limit.text !== "0s") yield { at: limit, what: `a stream may last ${limit.text}` };
      }
      for (const route of setup.routes) {
        const limit = route.action.get("max_stream_duration", "max_stream_duration");
        if (limit && limit.text !== "0s")
          yield { at: limit, what: `a stream of ${label(route)} may last ${limit.text}` };
      }
      for (const { options, name } of setup.backends) {
        const limit = options?.get("common_http_protocol_options", "max_stream_duration");
        if (limit && limit.text !== "0s")
          yield { at: limit, what: `a stream of cluster ${name} may last ${limit.text}` };
      }
    },
  },
];

function deadline(setup: Setup, route: Route): number {
  return Math.max(
    0,
    ...setup.chainsOf(route).map((chain) => (chain.maxAttempts > 1 ? chain.attemptsDeadlineMs : 0)),
  );
}

export function label({ name, at }: Pick<Route, "name" | "at">): string {
  return at.get("name") ? `route ${name}` : "a route without name";
}
