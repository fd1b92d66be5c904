import { endpointsOf } from "../setup/envoy.js";
import type { Rule } from "./rule.js";

/** Node before 22.11 cuts a connection that had 1000 resets. */
const MAX_REQUESTS_PER_CONNECTION = 900;
const WIDE = 4096;

export const serviceClusterRules: readonly Rule[] = [
  {
    id: "service-requests-per-connection",
    level: "error",
    harm: "Envoy ends streams by resets: Node before 22.11 cuts a connection that had 1000, and what is being asked on it goes uncounted",
    fix: "common_http_protocol_options: { max_requests_per_connection: 500 } on the service's cluster",
    *find(setup) {
      for (const { at, name, options, isPart } of setup.servicesOf("grpc")) {
        const limit =
          options?.numberOf("common_http_protocol_options", "max_requests_per_connection") ??
          at.numberOf("max_requests_per_connection");
        if (isPart || (limit !== undefined && limit <= MAX_REQUESTS_PER_CONNECTION)) continue;
        yield {
          at: options ?? at,
          what: `cluster ${name} sends ${limit ?? "any number of"} requests over a connection`,
        };
      }
    },
  },
  {
    id: "service-http2",
    level: "error",
    harm: "ext_proc is gRPC: over HTTP/1 every stream fails, and nothing is counted or rewritten",
    fix: "explicit_http_config: { http2_protocol_options: {} } on the service's cluster",
    *find(setup) {
      for (const { at, name, options, isPart } of setup.servicesOf("grpc")) {
        const isHttp2 =
          options?.get("explicit_http_config", "http2_protocol_options") ??
          options?.get("use_downstream_protocol_config") ??
          options?.get("auto_config") ??
          at.get("http2_protocol_options");
        if (!isHttp2 && !isPart) yield { at: options ?? at, what: `cluster ${name} does not speak HTTP/2` };
      }
    },
  },
  {
    id: "service-limits",
    level: "warning",
    harm: "above 1024 requests at once the service is not asked: they go uncounted, or past the tier",
    fix: "circuit_breakers with max_requests: 100000 for both priorities on the service's cluster",
    *find(setup) {
      for (const { at, name, isPart } of setup.servicesOf("grpc")) {
        const limits = at
          .list("circuit_breakers", "thresholds")
          .map((each) => each.numberOf("max_requests") ?? 1024);
        if (!isPart && !(limits.length > 0 && Math.min(...limits) >= WIDE))
          yield {
            at,
            what: `cluster ${name} takes ${limits.length > 0 ? Math.min(...limits) : "1024"} requests at once`,
          };
      }
    },
  },
  {
    id: "service-many-hosts",
    level: "warning",
    harm: "two services behind one name hear of this gateway every other second: after 3 s each takes it for silent",
    fix: "one service for each Envoy, or `peers` between services",
    *find(setup) {
      for (const cluster of setup.servicesOf("http")) {
        const hosts = endpointsOf(cluster).length;
        if (hosts > 1) yield { at: cluster.at, what: `cluster ${cluster.name} has ${hosts} endpoints` };
      }
    },
  },
];
