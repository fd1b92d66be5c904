import { DEFAULT_BUFFER_LIMIT } from "../setup/envoy.js";
import type { Setup } from "../setup/setup.js";
import type { Found, Rule } from "./rule.js";
import { label } from "./timeouts.js";

const SERVICE_BUFFER = 67_108_864;

export const bufferRules: readonly Rule[] = [
  {
    id: "hold-over-listener-limit",
    level: "error",
    harm: "a held answer over the listener's limit becomes a bare 500, is not retried, and counts as the backend's failure",
    fix: "per_connection_buffer_limit_bytes: 2097152 on the listener and 32768 on each backend's cluster; or a smaller holdLimit",
    *find(setup) {
      const heldBytes = Math.max(0, ...setup.chains.map((chain) => chain.heldBytes));
      if (heldBytes === 0) return;
      const read = Math.max(
        0,
        ...setup.backends.map(
          ({ at }) => at.numberOf("per_connection_buffer_limit_bytes") ?? DEFAULT_BUFFER_LIMIT,
        ),
      );
      const gate =
        setup.objectsOf("EnvoyFilter").length > 0
          ? setup.partFilters.find(({ role }) => role === "gate")
          : undefined;
      const merged = setup.partListeners.map(
        (each) => each.numberOf("per_connection_buffer_limit_bytes") ?? 0,
      );
      const parts = gate
        ? [{ at: gate.at, bufferLimit: Math.max(DEFAULT_BUFFER_LIMIT, ...merged), isPart: false }]
        : [];
      for (const { at, bufferLimit = DEFAULT_BUFFER_LIMIT, isPart } of [...setup.gated, ...parts]) {
        if (isPart || heldBytes + read <= bufferLimit) continue;
        yield {
          at,
          what: `${heldBytes} bytes may be held and ${read} more read at once, and the listener's limit is ${bufferLimit}`,
        };
      }
    },
  },
  {
    id: "hold-over-body-limit",
    level: "error",
    harm: "request_body_buffer_limit bounds held answers too: longer ones become a bare 500",
    fix: "request_body_buffer_limit: 16777216",
    *find(setup) {
      for (const route of setup.routes) {
        const limit = bodyLimit(route);
        const heldBytes = Math.max(0, ...setup.chainsOf(route).map((chain) => chain.heldBytes));
        if (limit && heldBytes > Number(limit.text))
          yield {
            at: limit,
            what: `${heldBytes} bytes of an answer to ${label(route)} may be held, and the limit is ${limit.text}`,
          };
      }
    },
  },
  {
    id: "cluster-buffer-limit",
    level: "warning",
    harm: "one read of a held answer may be as large as that: it counts against the listener's limit",
    fix: "per_connection_buffer_limit_bytes: 32768 on the cluster",
    *find(setup) {
      for (const { at, name, isPart } of setup.backends) {
        const limit = at.numberOf("per_connection_buffer_limit_bytes");
        if (isPart || (limit !== undefined && limit <= 262_144)) continue;
        yield {
          at: at.get("per_connection_buffer_limit_bytes") ?? at,
          what: `the buffer limit of cluster ${name} is ${limit ?? "1 MiB, Envoy's default"}`,
        };
      }
    },
  },
  {
    id: "body-buffer-limit",
    level: "error",
    harm: "a body over the listener's buffer limit gets a text 413 where it is counted, or its retry is dropped silently",
    fix: "request_body_buffer_limit: 16777216 on the virtual host (or the route)",
    *find(setup) {
      for (const route of setup.routes) {
        if (route.isPart || bodyLimit(route) || !holdsBodies(setup, route)) continue;
        yield { at: route.host ?? route.at, what: `${label(route)} has no request_body_buffer_limit` };
      }
    },
  },
  {
    id: "service-buffer-limit",
    level: "error",
    harm: "Envoy dies (SIGSEGV) of many answers that the service changes at once",
    fix: `per_connection_buffer_limit_bytes: ${SERVICE_BUFFER} on the service's cluster`,
    *find(setup) {
      for (const { at, name, isPart } of setup.servicesOf("grpc")) {
        const limit = at.numberOf("per_connection_buffer_limit_bytes") ?? DEFAULT_BUFFER_LIMIT;
        if (limit >= SERVICE_BUFFER || isPart) continue;
        yield {
          at: at.get("per_connection_buffer_limit_bytes") ?? at,
          what: `the buffer limit of cluster ${name} is ${limit} bytes`,
        };
      }
    },
  },
];

function bodyLimit({ at, host }: { readonly at: Found["at"]; readonly host: Found["at"] | undefined }) {
  return [at, host]
    .map((each) => each?.get("request_body_buffer_limit") ?? each?.get("per_request_buffer_limit_bytes"))
    .find(Boolean);
}

/** Retried, counted or rewritten: then a body is kept. */
function holdsBodies(setup: Setup, route: Setup["routes"][number]): boolean {
  const chains = setup.chainsOf(route);
  return (
    chains.some(({ maxAttempts }) => maxAttempts > 1) ||
    setup.serviceFilters.length > 0 ||
    (chains.length === 0 && route.retryPolicy !== undefined)
  );
}
