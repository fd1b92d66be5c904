import { RETRY_HEADER, type Route } from "../setup/envoy.js";
import type { Setup } from "../setup/setup.js";
import { meshMirrors, meshRetries } from "./mesh-routes.js";
import type { Rule } from "./rule.js";
import { label } from "./timeouts.js";

/** What Envoy would retry by itself, whatever the breaker says. */
const UNSTOPPABLE = ["5xx", "gateway-error", "retriable-4xx", "retriable-status-codes", "envoy-ratelimited"];
const WANTED = ["reset", "connect-failure", "refused-stream", "retriable-headers"];
const MAX_RETRY_AFTER_MS = 3000;

/** Routes on which the meter asks for retries: not those whose chains try once. */
function retried(setup: Setup): readonly Route[] {
  return setup.routes.filter((route) => {
    const chains = setup.chainsOf(route);
    return chains.length === 0
      ? route.retryPolicy !== undefined
      : chains.some(({ maxAttempts }) => maxAttempts > 1);
  });
}

/** Those whose retry policy is here to be judged. */
function withPolicy(setup: Setup): readonly Route[] {
  return retried(setup).filter(({ retryPolicy, isPart }) => retryPolicy !== undefined || !isPart);
}

function conditions({ retryPolicy }: Route): readonly string[] {
  return (retryPolicy?.textOf("retry_on") ?? "").split(",").map((each) => each.trim());
}

export const retryRules: readonly Rule[] = [
  {
    id: "retry-on-5xx",
    level: "error",
    harm: "Envoy retries up to its limit whatever the breaker says: tiers that are Open are tried, and one tier many times",
    fix: "retry_on: reset,connect-failure,refused-stream,retriable-headers",
    *find(setup) {
      for (const route of setup.routes) {
        const bad = conditions(route).filter((each) => UNSTOPPABLE.includes(each));
        if (bad.length === 0) continue;
        yield {
          at: route.retryPolicy?.get("retry_on") ?? route.at,
          what: `retry_on of ${label(route)} has ${bad.join(", ")}`,
        };
      }
      yield* meshRetries(setup);
    },
  },
  {
    id: "retry-on-missing",
    level: "error",
    harm: "such failures are not retried: no failover, callers get the sick backend's error",
    fix: "retry_on: reset,connect-failure,refused-stream,retriable-headers",
    *find(setup) {
      for (const route of withPolicy(setup)) {
        const present = conditions(route);
        const missing = WANTED.filter((each) => !present.includes(each));
        if (missing.length === 0) continue;
        const what = route.retryPolicy
          ? `retry_on of ${label(route)} lacks ${missing.join(", ")}`
          : `${label(route)} has no retry_policy`;
        yield { at: route.retryPolicy?.get("retry_on") ?? route.retryPolicy ?? route.at, what };
      }
    },
  },
  {
    id: "retriable-headers",
    level: "error",
    harm: "the meter asks for the next tier by that header, and Envoy passes the failed answer on",
    fix: `retriable_headers: [{ name: ${RETRY_HEADER}, present_match: true }]`,
    *find(setup) {
      for (const route of withPolicy(setup)) {
        if (route.retryPolicy === undefined) continue;
        const names = route.retryPolicy.list("retriable_headers").map((each) => each.textOf("name"));
        if (names.includes(RETRY_HEADER)) continue;
        yield {
          at: route.retryPolicy,
          what: `retriable_headers of ${label(route)} do not name ${RETRY_HEADER}`,
        };
      }
    },
  },
  {
    id: "num-retries",
    level: "error",
    harm: "with fewer the last tiers are never asked; with more one could be asked after the chain's last attempt",
    fix: "num_retries as many as maxAttempts of the chain; of several chains the largest; 0 where it is 1",
    *find(setup) {
      const isBelow = canNotRefresh(setup);
      for (const route of setup.routes) {
        const chains = setup.chainsOf(route);
        if (chains.length === 0 || (route.retryPolicy === undefined && route.isPart) || isBelow) continue;
        // A route for each tier: its retries stay on its cluster, so one is enough.
        if (route.retryPolicy === undefined || (route.isPart && route.matcher === undefined)) continue;
        const attempts = Math.max(...chains.map(({ maxAttempts }) => maxAttempts));
        const wanted = attempts === 1 ? 0 : attempts;
        const retries = route.retryPolicy.numberOf("num_retries");
        if ((retries ?? 1) === wanted) continue;
        const what = `num_retries of ${label(route)} is ${retries ?? "1, Envoy's default"}, and its chain may try ${attempts} times`;
        yield {
          at: route.retryPolicy.get("num_retries") ?? route.retryPolicy,
          what,
          fix: `num_retries: ${wanted}`,
        };
      }
    },
  },
  {
    id: "refresh-on-retry",
    level: "error",
    harm: "every retry stays on the sick cluster",
    fix: "refresh_cluster_on_retry: true in the retry_policy",
    *find(setup) {
      if (canNotRefresh(setup)) return;
      for (const route of withPolicy(setup)) {
        if (route.matcher === undefined || route.retryPolicy === undefined) continue;
        if (route.retryPolicy.isTrue("refresh_cluster_on_retry")) continue;
        yield {
          at: route.retryPolicy,
          what: `${label(route)} does not ask again for the cluster of a retry`,
        };
      }
    },
  },
  {
    id: "refresh-unknown",
    level: "error",
    harm: "that Envoy does not know refresh_cluster_on_retry: it refuses the file, or a mesh drops the field",
    fix: "Envoy 1.39, Istio 1.31, Envoy Gateway 1.9 or later; or take the line out: fallback at admission stays",
    *find(setup) {
      if (!canNotRefresh(setup)) return;
      for (const route of setup.routes) {
        const field = route.retryPolicy?.get("refresh_cluster_on_retry");
        if (field) yield { at: field, what: `${label(route)} has refresh_cluster_on_retry` };
      }
    },
  },
  {
    id: "retries-before-1.39",
    level: "error",
    harm: "all retries go to the failing cluster, one after the other",
    fix: "num_retries: 1 below Envoy 1.39 and Istio 1.31",
    *find(setup) {
      if (!canNotRefresh(setup)) return;
      for (const route of setup.routes) {
        const field = route.retryPolicy?.get("num_retries");
        const chains = setup.chainsOf(route);
        if (
          !setup.isMesh ||
          Number(field?.text ?? 1) <= 1 ||
          chains.every(({ maxAttempts }) => maxAttempts === 1)
        )
          continue;
        yield {
          at: field ?? route.at,
          what: `${label(route)} retries ${field?.text} times, and no retry changes its cluster`,
        };
      }
    },
  },
  {
    id: "hedging",
    level: "error",
    harm: "the second attempt goes to the same cluster, and what the loser told is filed against the wrong backend",
    fix: "no hedge_policy where the breaker is",
    *find(setup) {
      for (const route of setup.routes) {
        const hedge = route.action.get("hedge_policy") ?? route.host?.get("hedge_policy");
        if (hedge) yield { at: hedge, what: `${label(route)} is hedged` };
      }
    },
  },
  {
    id: "mirroring",
    level: "warning",
    harm: "mirrored requests are paid for, carry callers' keys there, and nothing of them is filed",
    fix: "no request_mirror_policies (VirtualService: mirror, mirrors) where the breaker is",
    *find(setup) {
      for (const route of setup.routes) {
        const mirrors = [route.action, route.host, route.table].map((each) =>
          each?.get("request_mirror_policies"),
        );
        const mirror = mirrors.find((each) => (each?.items.length ?? 0) > 0);
        if (mirror) yield { at: mirror, what: `requests of ${label(route)} are mirrored` };
      }
      yield* meshMirrors(setup);
    },
  },
  {
    id: "retry-header-shown",
    level: "warning",
    harm: `callers see ${RETRY_HEADER} when Envoy does not retry what the meter asked for`,
    fix: `response_headers_to_remove: [${RETRY_HEADER}] on the route configuration`,
    *find(setup) {
      for (const route of retried(setup)) {
        if (route.isPart) continue;
        const removed = [route.at, route.host, route.table].flatMap(
          (each) => each?.list("response_headers_to_remove") ?? [],
        );
        if (removed.some(({ text }) => text === RETRY_HEADER)) continue;
        yield {
          at: route.table ?? route.at,
          what: `nothing removes ${RETRY_HEADER} from answers of ${label(route)}`,
        };
      }
    },
  },
  {
    id: "retry-after-back-off",
    level: "warning",
    harm: "a 429 with a short Retry-After is retried at once on the same backend, or a long one keeps its caller waiting",
    fix: "rate_limited_retry_back_off: { reset_headers: [{ name: retry-after, format: SECONDS }], max_interval: 3s }",
    *find(setup) {
      for (const route of withPolicy(setup)) {
        const { retryPolicy } = route;
        if (
          retryPolicy === undefined ||
          !setup.chainsOf(route).some(({ sameTierRetries }) => sameTierRetries > 0)
        )
          continue;
        const backOff = retryPolicy.get("rate_limited_retry_back_off");
        const isKept = (backOff?.millisecondsOf("max_interval") ?? 300_000) <= MAX_RETRY_AFTER_MS;
        if (isKept) continue;
        const what = backOff
          ? `${label(route)} waits for longer than 3 s`
          : `${label(route)} has no rate_limited_retry_back_off`;
        yield { at: backOff ?? retryPolicy, what };
      }
    },
  },
];

/** Istio before 1.31, Envoy before 1.39. */
export function canNotRefresh({ versions }: Setup): boolean {
  const { envoy, istio } = versions;
  return istio === undefined ? envoy[0] === 1 && envoy[1] < 39 : istio[0] === 1 && istio[1] < 31;
}
