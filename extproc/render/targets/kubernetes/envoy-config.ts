import { dirname } from "node:path/posix";
import { extension, typed } from "../../parts/types.js";
import type { Plan } from "../../plan.js";
import { Commented, commented, type YamlMap, type YamlValue } from "../../yaml/value.js";
import { writeDocument, writeSharing } from "../../yaml/writer.js";
import { envoyConfig } from "../envoy.js";
import {
  type KubernetesSettings,
  POLICY_FILE,
  POLICY_FOLDER,
  STATUS_PORT,
  serviceHost,
  WASM_FOLDER,
} from "./settings.js";

const GATE = "llm.breaker.gate";
const WASM = "envoy.extensions.filters.http.wasm.v3.Wasm";
const ADMIN_CLUSTER = "envoy-admin";
const MANAGER = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

export interface PodConfig {
  /** Envoy's own file. */
  readonly envoy: string;
  /** The gate, with the policy: a file of its own, which may change while Envoy runs. */
  readonly gate: string;
}

export function podConfig(plan: Plan, settings: KubernetesSettings): PodConfig {
  const service = plan.service && { ...plan.service, host: serviceHost(settings) };
  const config = envoyConfig({ ...plan, service }, { wasmFolder: WASM_FOLDER, canChangeCluster: true });
  let gate: YamlMap | undefined;
  const discovered = mapped(config, (map) => {
    if (map.name !== GATE || map.typed_config === undefined) return undefined;
    gate = map;
    return discovery();
  });
  if (gate === undefined) throw new Error("the rendered configuration has no gate");
  const { static_resources, ...others } = watched(discovered) as YamlMap;
  const { listeners, clusters } = static_resources as { listeners: YamlValue[]; clusters: YamlValue[] };
  const whole = {
    ...others,
    static_resources: {
      listeners: [...listeners, statusListener()],
      clusters: [...clusters, adminCluster()],
    },
  };
  return {
    envoy: writeSharing(
      "Envoy of its own, written by `llm-breaker render`. The policy is in the other ConfigMap.",
      whole,
    ),
    gate: writeDocument(
      "The policy. A change here is in force within a minute or two (as long as Kubernetes takes), without a restart; a faulty one is " +
        "refused, and the old one goes on.",
      { resources: [typed("envoy.config.core.v3.TypedExtensionConfig", { ...gate })] },
    ),
  };
}

function discovery(): YamlMap {
  return {
    name: GATE,
    config_discovery: commented("From the file of the policy's ConfigMap, also while Envoy runs.", {
      config_source: {
        path_config_source: { path: `${POLICY_FOLDER}/${POLICY_FILE}` },
        resource_api_version: "V3",
      },
      type_urls: [`type.googleapis.com/${WASM}`],
    }),
  };
}

/** Kubernetes changes mounted files by swapping a link in their folder, which only a watch on the folder sees. */
function watched(value: YamlValue): YamlValue {
  return mapped(value, ({ path_config_source: source, ...others }) => {
    if (source === undefined) return undefined;
    const { path } = source as { path: string };
    return { path_config_source: { path, watched_directory: { path: dirname(path) } }, ...others };
  });
}

/** The same with each map replaced that `change` gives another for. */
function mapped(value: YamlValue, change: (map: YamlMap) => YamlMap | undefined): YamlValue {
  if (value instanceof Commented) return commented(value.comment, mapped(value.value, change));
  if (Array.isArray(value)) return value.map((each) => mapped(each, change));
  if (typeof value !== "object" || value === null) return value;
  const map = change(value as YamlMap);
  if (map !== undefined) return map;
  const entries = Object.entries(value as YamlMap).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(entries.map(([key, each]) => [key, mapped(each as YamlValue, change)]));
}

/** What probes and Prometheus may ask of Envoy, whose admin port stays on loopback. */
function statusListener(): YamlValue {
  const route = (path: string): YamlMap => ({ match: { path }, route: { cluster: ADMIN_CLUSTER } });
  return commented("For probes and Prometheus: two paths of the admin port, and nothing else of it.", {
    name: "status",
    address: { socket_address: { address: "0.0.0.0", port_value: STATUS_PORT } },
    filter_chains: [
      {
        filters: [
          extension("envoy.filters.network.http_connection_manager", MANAGER, {
            stat_prefix: "status",
            http_filters: [
              extension("envoy.filters.http.router", "envoy.extensions.filters.http.router.v3.Router"),
            ],
            route_config: {
              name: "status",
              virtual_hosts: [
                { name: "status", domains: ["*"], routes: [route("/ready"), route("/stats/prometheus")] },
              ],
            },
          }),
        ],
      },
    ],
  });
}

function adminCluster(): YamlMap {
  const address = { socket_address: { address: "127.0.0.1", port_value: 9901 } };
  return {
    name: ADMIN_CLUSTER,
    type: "STATIC",
    connect_timeout: "1s",
    load_assignment: {
      cluster_name: ADMIN_CLUSTER,
      endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
    },
  };
}
