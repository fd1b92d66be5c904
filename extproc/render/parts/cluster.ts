import type { BackendUrl, PlannedBackend } from "../plan.js";
import { commented, type YamlMap } from "../yaml/value.js";
import { extension } from "./types.js";
import {
  protocolOptions,
  sinkEndpoint,
  type UpstreamPlace,
  upstreamFilters,
  WIDE_LIMITS,
} from "./upstream.js";

/** Of one read; holdLimit and this must fit into the listener's limit. */
export const CLUSTER_BUFFER_BYTES = 32_768;
/** Any healthy host keeps all traffic at its priority. */
export const STAY_WITH_HOSTS: YamlMap = { overprovisioning_factor: 100_000 };

export function endpointAt(host: string, port: number): YamlMap {
  return { endpoint: { address: { socket_address: { address: host, port_value: port } } } };
}

/** An address needs no resolver; a name is every address that it has. */
export function discovery(isAddress: boolean): YamlMap {
  return isAddress
    ? { type: "STATIC" }
    : {
        type: "STRICT_DNS",
        // The default goes to IPv6 alone where a name has any, also from hosts that have none.
        dns_lookup_family: "V4_PREFERRED",
      };
}

/** The hosts, and the sink one priority down. */
export function hostsAndSink(cluster: string, hosts: readonly YamlMap[]): YamlMap {
  return {
    cluster_name: cluster,
    policy: commented(
      "TRAP: with no host no filter runs and Envoy answers a text 503. The sink one priority down refuses the connection, which the meter " +
        "sees; any healthy host keeps all traffic away from it.",
      STAY_WITH_HOSTS,
    ),
    endpoints: [
      { priority: 0, lb_endpoints: hosts },
      { priority: 1, lb_endpoints: [sinkEndpoint()] },
    ],
  };
}

export function metadataOf(backend: PlannedBackend): YamlMap {
  return { filter_metadata: { "llm.breaker": backend.metadata } };
}

/** A backend's whole cluster. */
export function backendCluster(backend: PlannedBackend, url: BackendUrl, place: UpstreamPlace): YamlMap {
  const { cluster } = backend;
  return {
    name: cluster,
    ...discovery(url.isAddress),
    connect_timeout: url.isTls ? "3s" : "1s",
    metadata: metadataOf(backend),
    per_connection_buffer_limit_bytes: commented(
      "TRAP: bounds one read of a held answer; see the listener's limit.",
      CLUSTER_BUFFER_BYTES,
    ),
    circuit_breakers: commented(
      "TRAP: the first cluster's retry limit (3 by default) holds a slot until the retry's first token: failing over would stop at the " +
        "fourth caller. Wide on every cluster and priority; the guard is maxAttempts and the breaker.",
      WIDE_LIMITS,
    ),
    load_assignment: hostsAndSink(cluster, [endpointAt(url.host, url.port)]),
    transport_socket: url.isTls ? tlsTo(url, backend.isHttp2) : undefined,
    typed_extension_protocol_options: protocolOptions(upstreamFilters(backend, place), backend.isHttp2),
  };
}

function tlsTo({ host, isAddress, caFile }: BackendUrl, isHttp2: boolean): YamlMap {
  return extension(
    "envoy.transport_sockets.tls",
    "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
    {
      sni: isAddress ? undefined : host,
      common_tls_context: {
        alpn_protocols: isHttp2 ? ["h2"] : undefined,
        validation_context: commented("TRAP: without it any certificate will do.", {
          trusted_ca: { filename: caFile },
          match_typed_subject_alt_names: [
            { san_type: isAddress ? "IP_ADDRESS" : "DNS", matcher: { exact: host } },
          ],
        }),
      },
    },
  );
}
