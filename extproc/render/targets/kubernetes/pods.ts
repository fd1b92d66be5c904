import type { Plan } from "../../plan.js";
import { commented, type YamlMap, type YamlValue } from "../../yaml/value.js";
import {
  ENVOY_FOLDER,
  type KubernetesSettings,
  POLICY_FOLDER,
  SERVICE_FOLDER,
  STATUS_PORT,
  WASM_FOLDER,
} from "./settings.js";

const NOBODY = 65_532;

const POD_SECURITY: YamlMap = {
  runAsNonRoot: true,
  runAsUser: NOBODY,
  runAsGroup: NOBODY,
  fsGroup: NOBODY,
  seccompProfile: { type: "RuntimeDefault" },
};

const CONTAINER_SECURITY: YamlMap = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

/** Of the pods that run Envoy. */
export function gatewayPod(plan: Plan, settings: KubernetesSettings): YamlMap {
  const hasService = plan.service !== undefined && settings.mode === "sidecar";
  return {
    ...commonPod(),
    terminationGracePeriodSeconds: settings.drainSeconds + 20,
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "kubernetes.io/hostname",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: { "app.kubernetes.io/name": settings.name } },
      },
    ],
    initContainers: [wasmContainer(settings)],
    containers: [envoyContainer(settings), ...(hasService ? [serviceContainer(settings)] : [])],
    volumes: [
      { name: "envoy", configMap: { name: `${settings.name}-envoy` } },
      { name: "policy", configMap: { name: `${settings.name}-policy` } },
      commented(
        "Kubernetes 1.33 and later can mount the image of the modules in its place, without the init container: " +
          "image: { reference: REGISTRY/llm-breaker-wasm:VERSION }.",
        { name: "wasm", emptyDir: {} },
      ),
      ...(settings.keyFolders.length > 0 ? [keysVolume(settings)] : []),
      ...(hasService ? [serviceVolume(settings)] : []),
    ],
  };
}

/** Of a pod with the service alone. */
export function servicePod(settings: KubernetesSettings): YamlMap {
  return {
    ...commonPod(),
    terminationGracePeriodSeconds: 30,
    containers: [serviceContainer(settings)],
    volumes: [serviceVolume(settings)],
  };
}

function commonPod(): YamlMap {
  return { automountServiceAccountToken: false, securityContext: POD_SECURITY };
}

/** The modules are in the service's image, too: one image to keep. */
function wasmContainer({ image }: KubernetesSettings): YamlMap {
  return {
    name: "wasm",
    image,
    command: ["sh", "-c", `cp build/llm-breaker-gate.wasm build/llm-breaker-meter.wasm ${WASM_FOLDER}/`],
    securityContext: CONTAINER_SECURITY,
    resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "64Mi" } },
    volumeMounts: [{ name: "wasm", mountPath: WASM_FOLDER }],
  };
}

function envoyContainer(settings: KubernetesSettings): YamlMap {
  const { envoyImage, port, drainSeconds, keyFolders } = settings;
  return {
    name: "envoy",
    image: envoyImage,
    args: commented(
      "TRAP: the node's id must be the pod's own: by it the service tells an Envoy that has started anew how it left its backends.",
      [
        "-c",
        `${ENVOY_FOLDER}/envoy.yaml`,
        "--service-node",
        "$(POD_NAME)",
        "--disable-hot-restart",
        "--concurrency",
        "2",
      ],
    ),
    env: [{ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
    ports: [
      { name: "http", containerPort: port },
      { name: "status", containerPort: STATUS_PORT },
    ],
    startupProbe: { httpGet: { path: "/ready", port: "status" }, periodSeconds: 1, failureThreshold: 60 },
    readinessProbe: { httpGet: { path: "/ready", port: "status" }, periodSeconds: 5 },
    livenessProbe: { tcpSocket: { port: "status" }, periodSeconds: 10 },
    lifecycle: commented(
      "TRAP: Envoy ends at once when it is told to, with every stream it has. Kubernetes has taken the pod out of the Service by then; " +
        "so long go on the answers that are under way.",
      { preStop: { sleep: { seconds: drainSeconds } } },
    ),
    securityContext: CONTAINER_SECURITY,
    resources: { requests: { cpu: "500m", memory: "256Mi" }, limits: { memory: "1Gi" } },
    volumeMounts: [
      { name: "envoy", mountPath: ENVOY_FOLDER, readOnly: true },
      { name: "policy", mountPath: POLICY_FOLDER, readOnly: true },
      { name: "wasm", mountPath: WASM_FOLDER, readOnly: true },
      ...keyFolders.map((mountPath) => ({ name: "keys", mountPath, readOnly: true })),
    ],
  };
}

function serviceContainer({ image, mode, drainSeconds }: KubernetesSettings): YamlMap {
  return {
    name: "service",
    image,
    env: [{ name: "LLM_BREAKER_CONFIG", value: `${SERVICE_FOLDER}/service.yaml` }],
    ports: [
      { name: "grpc", containerPort: 9002 },
      { name: "metrics", containerPort: 9003 },
    ],
    readinessProbe: { httpGet: { path: "/healthz", port: "metrics" }, periodSeconds: 5 },
    livenessProbe: { tcpSocket: { port: "metrics" }, periodSeconds: 10 },
    lifecycle:
      mode === "sidecar"
        ? commented("As long as Envoy beside it has answers under way.", {
            preStop: { sleep: { seconds: drainSeconds } },
          })
        : undefined,
    securityContext: CONTAINER_SECURITY,
    resources: commented("A vocabulary takes 90 to 500 MB when it is first counted with.", {
      requests: { cpu: "250m", memory: "512Mi" },
      limits: { memory: "2Gi" },
    }),
    volumeMounts: [{ name: "service", mountPath: SERVICE_FOLDER, readOnly: true }],
  };
}

function serviceVolume({ name, mode }: KubernetesSettings): YamlValue {
  return { name: "service", configMap: { name: mode === "sidecar" ? `${name}-service` : "llm-breaker" } };
}

function keysVolume({ name }: KubernetesSettings): YamlValue {
  return commented(
    `Yours: kubectl create secret generic ${name}-keys --from-file=KEY.yaml, each file an Envoy secret like envoy/secrets/public-key.yaml.`,
    { name: "keys", secret: { secretName: `${name}-keys` } },
  );
}
