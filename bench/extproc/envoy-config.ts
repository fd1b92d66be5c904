import { join } from "node:path";
import { type EnvoyConfig, readEnvoyConfig } from "../../test/support/envoy-config.js";
import { findRepoRoot } from "../../test/support/repo-root.js";

/** One listener, whose requests go through ext_proc when a role is named. */
export interface Line {
  readonly name: string;
  readonly port: number;
  readonly ask?: { readonly role: string; readonly servicePort: number };
}

type Node = Record<string, unknown>;

const types = "type.googleapis.com/envoy";
const upstream = "upstream";
const canaryLimits = '{"maxPromptTokens":256,"maxOutputTokens":1024}';

/** Listeners that differ in nothing but ext_proc, set up as full.yaml does it; all requests end at one upstream. */
export function linesConfig(adminPort: number, lines: readonly Line[], upstreamPort: number): EnvoyConfig {
  const shipped = shippedCount();
  return {
    admin: { address: address(adminPort) },
    static_resources: {
      listeners: lines.map((line) => listener(line, shipped)),
      clusters: [
        cluster(upstream, upstreamPort, "http_protocol_options"),
        ...lines.flatMap(({ name, ask }) =>
          ask ? [cluster(name, ask.servicePort, "http2_protocol_options")] : [],
        ),
      ],
    },
  };
}

/** The settings of the filter that asks for a count. */
function shippedCount(): Node {
  const isCount = (node: Node): boolean =>
    String(node["@type"]).endsWith("ext_proc.v3.ExternalProcessor") &&
    JSON.stringify(node.grpc_service).includes('"value":"count"');
  const found = find(readEnvoyConfig(join(findRepoRoot(), "envoy", "full.yaml")), isCount);
  if (!found) throw new Error("full.yaml has no ext_proc filter for the role count");
  return found;
}

function find(value: unknown, isWanted: (node: Node) => boolean): Node | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value) && isWanted(value as Node)) return value as Node;
  for (const child of Object.values(value)) {
    const found = find(child, isWanted);
    if (found) return found;
  }
  return undefined;
}

function listener({ name, port, ask }: Line, shipped: Node): Node {
  const extProc = ask && {
    name: "ext_proc",
    typed_config: {
      ...shipped,
      grpc_service: {
        envoy_grpc: { cluster_name: name },
        initial_metadata: [{ key: "x-llm-breaker-role", value: ask.role }],
      },
    },
  };
  return {
    name,
    address: address(port),
    per_connection_buffer_limit_bytes: 2_097_152,
    filter_chains: [
      {
        filters: [
          {
            name: "envoy.filters.network.http_connection_manager",
            typed_config: {
              "@type": `${types}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
              stat_prefix: name,
              route_config: {
                virtual_hosts: [
                  {
                    name: "all",
                    domains: ["*"],
                    routes: [{ match: { prefix: "/" }, route: { cluster: upstream } }],
                  },
                ],
              },
              http_filters: [canaryState(), ...(extProc ? [extProc] : []), router()],
            },
          },
        ],
      },
    ],
  };
}

/** What the gate writes for a request that may be a canary. */
function canaryState(): Node {
  return {
    name: "canary",
    typed_config: {
      "@type": `${types}.extensions.filters.http.set_filter_state.v3.Config`,
      on_request_headers: [
        {
          object_key: "wasm.llm.breaker.canary",
          factory_key: "envoy.string",
          format_string: { text_format_source: { inline_string: canaryLimits } },
        },
      ],
    },
  };
}

function router(): Node {
  return {
    name: "router",
    typed_config: { "@type": `${types}.extensions.filters.http.router.v3.Router` },
  };
}

function cluster(name: string, port: number, protocol: string): Node {
  const limits = { max_connections: 10_000, max_pending_requests: 10_000, max_requests: 10_000 };
  return {
    name,
    type: "STATIC",
    connect_timeout: "1s",
    circuit_breakers: { thresholds: [limits] },
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
    },
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": `${types}.extensions.upstreams.http.v3.HttpProtocolOptions`,
        explicit_http_config: { [protocol]: {} },
      },
    },
  };
}

function address(port: number): Node {
  return { socket_address: { address: "127.0.0.1", port_value: port } };
}
