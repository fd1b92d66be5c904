import { isIP } from "node:net";
import type { PlannedService } from "../plan.js";
import { SERVICE_CLUSTER as SYNC_CLUSTER } from "../policy-text.js";
import { commented, type YamlMap } from "../yaml/value.js";
import { discovery, endpointAt } from "./cluster.js";
import { typed } from "./types.js";
import { WIDE_LIMITS } from "./upstream.js";

/** Cluster of its gRPC port. */
export const ASKED_CLUSTER = "llm-breaker-service";

const OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** The service's two ports. */
export function serviceClusters({ host, grpcPort, httpPort }: PlannedService): YamlMap[] {
  return [
    {
      ...clusterOf(ASKED_CLUSTER, host),
      per_connection_buffer_limit_bytes: commented(
        "TRAP: 1 MiB by default. Envoy dies when answers that are on their way back from the service fill it after their backend has ended.",
        67_108_864,
      ),
      circuit_breakers: WIDE_LIMITS,
      load_assignment: assignment(ASKED_CLUSTER, host, grpcPort),
      typed_extension_protocol_options: {
        [OPTIONS]: typed(OPTIONS, {
          explicit_http_config: commented("Finds a service that is gone without a word.", {
            http2_protocol_options: { connection_keepalive: { interval: "10s", timeout: "10s" } },
          }),
          common_http_protocol_options: commented(
            "TRAP: Envoy ends streams by resets, and Node before 22.11 takes more than 1000 of them for an attack: it cuts the connection.",
            { max_requests_per_connection: 500 },
          ),
        }),
      },
    },
    { ...clusterOf(SYNC_CLUSTER, host), load_assignment: assignment(SYNC_CLUSTER, host, httpPort) },
  ];
}

function clusterOf(name: string, host: string): YamlMap {
  return { name, ...discovery(isIP(host) !== 0), connect_timeout: "0.25s" };
}

function assignment(cluster: string, host: string, port: number): YamlMap {
  return { cluster_name: cluster, endpoints: [{ lb_endpoints: [endpointAt(host, port)] }] };
}
