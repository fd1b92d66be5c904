import { join } from "node:path";
import { type EnvoyConfig, readEnvoyConfig } from "./envoy-config.js";
import { findRepoRoot } from "./repo-root.js";

/** One listener, whose requests go through ext_proc when a role is named. */
export interface Line {
  readonly name: string;
  readonly port: number;
  readonly ask?: Ask;
}

export interface Ask {
  readonly role: string;
  readonly servicePort: number;
  /** Http2ProtocolOptions in place of full.yaml's. */
  readonly http2?: Readonly<Record<string, unknown>>;
}

/** The answer's header that tells what was counted; absent for a request that was not. */
export const countedHeader = "x-prompt-tokens";

type Node = Record<string, unknown>;

const types = "type.googleapis.com/envoy";
const upstream = "upstream";
const canaryLimits = '{"maxPromptTokens":256,"maxOutputTokens":1024}';

/** Listeners that differ in nothing but ext_proc, set up as full.yaml does it; all requests end at one upstream. */
export function linesConfig(adminPort: number, lines: readonly Line[], upstreamPort: number): EnvoyConfig {
  const shipped = readEnvoyConfig(join(findRepoRoot(), "envoy", "full.yaml"));
  return {
    admin: { address: address(adminPort) },
    static_resources: {
      listeners: lines.map((line) => listener(line, shipped)),
      clusters: [
        cluster(upstream, upstreamPort),
        ...lines.flatMap(({ name, ask }) => (ask ? [serviceCluster(name, ask, shipped)] : [])),
      ],
    },
  };
}

/** The settings of the filter that asks for a count. */
function shippedCount(config: EnvoyConfig): Node {
  return found(
    config,
    (node) =>
      String(node["@type"]).endsWith("ext_proc.v3.ExternalProcessor") &&
      JSON.stringify(node.grpc_service).includes('"value":"count"'),
  );
}

function found(config: EnvoyConfig, isWanted: (node: Node) => boolean): Node {
  const node = find(config, isWanted);
  if (!node) throw new Error("full.yaml does not ask the service as it did");
  return node;
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

function listener({ name, port, ask }: Line, shipped: EnvoyConfig): Node {
  const extProc = ask && {
    name: "ext_proc",
    typed_config: {
      ...shippedCount(shipped),
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
                    routes: [route()],
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

function route(): Node {
  const header = { key: countedHeader, value: "%DYNAMIC_METADATA(llm.breaker:promptTokens)%" };
  return {
    match: { prefix: "/" },
    route: { cluster: upstream, timeout: "0s" },
    response_headers_to_add: [{ header }],
  };
}

function cluster(name: string, port: number): Node {
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
  };
}

function serviceCluster(name: string, { servicePort, http2 }: Ask, shipped: EnvoyConfig): Node {
  const like = found(shipped, (node) => node.name === "llm-breaker-service");
  const options = structuredClone(like.typed_extension_protocol_options) as Record<string, Node>;
  for (const each of Object.values(options))
    if (http2) each.explicit_http_config = { http2_protocol_options: http2 };
  return { ...cluster(name, servicePort), typed_extension_protocol_options: options };
}

function address(port: number): Node {
  return { socket_address: { address: "127.0.0.1", port_value: port } };
}
