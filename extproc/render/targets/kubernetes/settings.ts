import { dirname } from "node:path/posix";
import { CliError } from "../../../cli-error.js";
import type { Plan } from "../../plan.js";
import type { TargetValues } from "../../target.js";
import { NAME_LIMIT, objectName } from "../mesh/object-name.js";

export type ServiceMode = "sidecar" | "shared" | "only";

export interface KubernetesSettings {
  readonly name: string;
  readonly namespace: string;
  readonly mode: ServiceMode;
  readonly image: string;
  readonly envoyImage: string;
  readonly replicas: number;
  readonly port: number;
  /** How long answers that are under way may take once a pod is to end. */
  readonly drainSeconds: number;
  /** Folders that keys are mounted at. */
  readonly keyFolders: readonly string[];
}

/** Room for what objects are, as in "-envoy" or "-upstream". */
const LONGEST_SUFFIX = 13;

export const KUBERNETES_OPTIONS = {
  namespace: { type: "string" },
  service: { type: "string" },
  image: { type: "string" },
  "envoy-image": { type: "string" },
  replicas: { type: "string" },
} as const;

/** The version that the shipped YAML is tested with. */
const ENVOY_IMAGE = "docker.io/envoyproxy/envoy:distroless-v1.40.0";
const IMAGE = "REGISTRY/llm-breaker-service:0.1.0";
/** On top of the longest answer. */
const DRAIN_MARGIN_SECONDS = 10;

export const WASM_FOLDER = "/var/lib/llm-breaker";
/** Apart from /etc/llm-breaker, where keys may be mounted: a mount inside another can't be made where that is read-only. */
export const POLICY_FOLDER = "/config/policy";
export const ENVOY_FOLDER = "/config/envoy";
export const SERVICE_FOLDER = "/config/service";
export const POLICY_FILE = "gate.yaml";
export const STATUS_PORT = 9902;

/** @throws CliError */
export function kubernetesSettings(plan: Plan, values: TargetValues): KubernetesSettings {
  const text = (name: keyof typeof KUBERNETES_OPTIONS, otherwise: string): string => {
    const value = values[name];
    return typeof value === "string" ? value : otherwise;
  };
  const longestMs = Math.max(...plan.chains.map(({ answerTimeoutMs }) => answerTimeoutMs));
  const folders = plan.backends.flatMap(({ credential }) =>
    credential ? [dirname(credential.secretFile)] : [],
  );
  return {
    name: objectName(["llm-breaker", plan.name], NAME_LIMIT - LONGEST_SUFFIX),
    namespace: text("namespace", "llm"),
    mode: modeOf(text("service", "sidecar")),
    image: text("image", IMAGE),
    envoyImage: text("envoy-image", ENVOY_IMAGE),
    replicas: replicasOf(text("replicas", "2")),
    port: Number(/:(\d+)$/.exec(plan.listen)?.[1] ?? 10_000),
    drainSeconds: Math.ceil(longestMs / 1000) + DRAIN_MARGIN_SECONDS,
    keyFolders: [...new Set(folders)],
  };
}

function modeOf(given: string): ServiceMode {
  if (given === "sidecar" || given === "shared" || given === "only") return given;
  throw new CliError(2, `--service must be sidecar, shared or only, got ${given}`);
}

function replicasOf(given: string): number {
  const replicas = Number(given);
  if (Number.isInteger(replicas) && replicas >= 1 && replicas <= 64) return replicas;
  throw new CliError(2, `--replicas must be 1 to 64, got ${given}`);
}

/** Where Envoy finds the service. */
export function serviceHost({ mode, namespace }: KubernetesSettings): string {
  return mode === "sidecar" ? "127.0.0.1" : `llm-breaker.${namespace}.svc.cluster.local`;
}
