import { createHash } from "node:crypto";
import type { Plan } from "../../plan.js";
import { commented, type YamlMap, type YamlValue } from "../../yaml/value.js";
import { podConfig } from "./envoy-config.js";
import { gatewayPod, servicePod } from "./pods.js";
import { type KubernetesSettings, POLICY_FILE, STATUS_PORT } from "./settings.js";

const NAME = "app.kubernetes.io/name";
const PART_OF = "app.kubernetes.io/part-of";
const SERVICE_NAME = "llm-breaker";

/** Envoy, its Service and what keeps both well. */
export function gatewayObjects(plan: Plan, settings: KubernetesSettings): YamlValue[] {
  const { name, replicas, port } = settings;
  const config = podConfig(plan, settings);
  const selector = { matchLabels: { [NAME]: name } };
  return [
    object(settings, "v1", "ConfigMap", `${name}-envoy`, { data: { "envoy.yaml": config.envoy } }),
    object(settings, "v1", "ConfigMap", `${name}-policy`, { data: { [POLICY_FILE]: config.gate } }),
    ...(plan.service && settings.mode === "sidecar" ? [serviceConfig(settings, `${name}-service`)] : []),
    object(settings, "apps/v1", "Deployment", name, {
      spec: {
        replicas,
        strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        selector,
        template: {
          metadata: podMetadata(name, STATUS_PORT, config.envoy),
          spec: gatewayPod(plan, settings),
        },
      },
    }),
    object(settings, "v1", "Service", name, {
      spec: {
        selector: { [NAME]: name },
        ports: [
          {
            name: "http",
            port: 80,
            targetPort: "http",
            appProtocol: commented("So that a mesh knows what it carries.", "http"),
          },
        ],
      },
    }),
    object(settings, "policy/v1", "PodDisruptionBudget", name, { spec: { maxUnavailable: 1, selector } }),
    gatewayPolicy(settings, port),
  ];
}

/** The service as a Deployment of its own, that all gateways ask. */
export function serviceObjects(settings: KubernetesSettings): YamlValue[] {
  const selector = { matchLabels: { [NAME]: SERVICE_NAME } };
  return [
    serviceConfig(settings, SERVICE_NAME),
    object(settings, "apps/v1", "Deployment", SERVICE_NAME, {
      spec: {
        replicas: commented(
          "TRAP: one. Of two behind one name each would hear of every other second only.",
          1,
        ),
        strategy: { type: "Recreate" },
        selector,
        template: { metadata: podMetadata(SERVICE_NAME, 9003), spec: servicePod(settings) },
      },
    }),
    object(settings, "v1", "Service", SERVICE_NAME, {
      spec: {
        selector: { [NAME]: SERVICE_NAME },
        ports: [
          { name: "grpc-ext-proc", port: 9002, targetPort: "grpc", appProtocol: "grpc" },
          { name: "http-sync", port: 9003, targetPort: "metrics", appProtocol: "http" },
        ],
      },
    }),
    object(settings, "networking.k8s.io/v1", "NetworkPolicy", SERVICE_NAME, {
      spec: {
        podSelector: selector,
        policyTypes: ["Ingress"],
        ingress: [
          commented("Gateways. In a mesh add the labels of the proxies that have the filters.", {
            from: [{ podSelector: { matchLabels: { [PART_OF]: SERVICE_NAME } } }],
            ports: [{ port: 9002 }, { port: 9003 }],
          }),
          monitoring(9003),
        ],
      },
    }),
  ];
}

function serviceConfig(settings: KubernetesSettings, name: string): YamlMap {
  const isShared = settings.mode !== "sidecar";
  const grpc = isShared ? "0.0.0.0:9002" : "127.0.0.1:9002";
  return object(settings, "v1", "ConfigMap", name, {
    data: {
      "service.yaml": commented(
        "envoy/service.yaml has every setting. Port 9003 is open to the pod's network for probes and Prometheus: the NetworkPolicy, or " +
          "`sync: { tokenFile }`, says who may sync. The control API on 9004 stays on loopback: kubectl port-forward reaches it.",
        `listen: { grpc: "${grpc}", http: "0.0.0.0:9003", admin: "127.0.0.1:9004" }\n`,
      ),
    },
  });
}

function gatewayPolicy(settings: KubernetesSettings, port: number): YamlMap {
  const { name } = settings;
  return object(settings, "networking.k8s.io/v1", "NetworkPolicy", name, {
    spec: {
      podSelector: { matchLabels: { [NAME]: name } },
      policyTypes: ["Ingress"],
      ingress: [
        commented("Callers. There is no authentication here.", { ports: [{ port }] }),
        monitoring(STATUS_PORT, 9003),
      ],
    },
  });
}

/** Kubelets' probes are let through by every network plugin. */
function monitoring(...ports: readonly number[]): YamlValue {
  return commented("Prometheus: the namespace it is in.", {
    from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
    ports: ports.map((port) => ({ port })),
  });
}

/** `config`: what a pod reads at its start alone, so that another makes new pods. */
function podMetadata(name: string, metricsPort: number, config?: string): YamlMap {
  return {
    labels: { [NAME]: name, [PART_OF]: SERVICE_NAME },
    annotations: {
      "prometheus.io/scrape": "true",
      "prometheus.io/port": String(metricsPort),
      "prometheus.io/path": metricsPort === STATUS_PORT ? "/stats/prometheus" : "/metrics",
      "llm-breaker/config":
        config === undefined ? undefined : createHash("sha256").update(config).digest("hex").slice(0, 16),
    },
  };
}

function object(
  { namespace }: KubernetesSettings,
  apiVersion: string,
  kind: string,
  name: string,
  rest: YamlMap,
): YamlMap {
  const labels = { [NAME]: name, [PART_OF]: SERVICE_NAME };
  return { apiVersion, kind, metadata: { name, namespace, labels }, ...rest };
}
