import { CliError } from "../../../cli-error.js";
import type { Plan, PlannedBackend } from "../../plan.js";
import type { TargetValues } from "../../target.js";
import { longName } from "../istio/settings.js";

export interface GatewaySettings {
  /** Envoy Gateway's minor version. */
  readonly minor: number;
  /** Failover of requests in flight: its Envoy is 1.39 or later. */
  readonly canChangeCluster: boolean;
  readonly namespace: string;
  readonly gateway: string;
  readonly listener: string;
  readonly hostname: string | undefined;
  readonly serviceHost: string;
  readonly wasmFolder: string;
}

export const GATEWAY_OPTIONS = {
  "gateway-version": { type: "string" },
  gateway: { type: "string" },
  listener: { type: "string" },
  hostname: { type: "string" },
  namespace: { type: "string" },
  "service-host": { type: "string" },
  wasm: { type: "string" },
} as const;

/** The first whose Envoy has the matcher, and the first whose retries may change clusters. */
const OLDEST = 5;
const FIRST_WITH_CHANGE = 9;

/** @throws CliError */
export function gatewaySettings(plan: Plan, values: TargetValues): GatewaySettings {
  const text = (name: keyof typeof GATEWAY_OPTIONS): string | undefined => {
    const value = values[name];
    return typeof value === "string" ? value : undefined;
  };
  const minor = minorOf(text("gateway-version") ?? "1.9");
  const [namespace, gateway] = gatewayOf(text("gateway") ?? `${text("namespace") ?? "llm"}/llm-gateway`);
  const host = plan.service?.host ?? "127.0.0.1";
  const isHere = /^(127\.|localhost$|::1$)/.test(host);
  return {
    minor,
    canChangeCluster: minor >= FIRST_WITH_CHANGE,
    namespace,
    gateway,
    listener: text("listener") ?? "http",
    hostname: text("hostname"),
    serviceHost:
      text("service-host") ??
      (isHere ? `llm-breaker.${namespace}.svc.cluster.local` : longName(host, namespace)),
    wasmFolder: text("wasm") ?? "/var/lib/llm-breaker",
  };
}

function minorOf(version: string): number {
  const minor = Number(/^v?1\.(\d{1,3})(?:\.\d+)?$/.exec(version)?.[1]);
  if (minor >= OLDEST) return minor;
  throw new CliError(2, `--gateway-version must be 1.${OLDEST} or later, like 1.9, got ${version}`);
}

function gatewayOf(given: string): [namespace: string, name: string] {
  const [, namespace, name] = /^([a-z0-9-]+)\/([a-z0-9.-]+)$/.exec(given) ?? [];
  if (namespace !== undefined && name !== undefined) return [namespace, name];
  throw new CliError(2, `--gateway must be NAMESPACE/NAME, got ${given}`);
}

/** A Service of the Gateway's cluster, which Envoy Gateway finds the pods of. */
export interface InCluster {
  readonly name: string;
  readonly namespace: string;
  readonly port: number;
}

/** Undefined: a server elsewhere, which Envoy finds by itself. @throws CliError */
export function serviceOf({ alias, url, cluster }: PlannedBackend, namespace: string): InCluster | undefined {
  const [host, port] =
    url === undefined
      ? (/^([\w.-]+):(\d+)$/.exec(cluster)?.slice(1) ?? [])
      : [url.isAddress ? "" : url.host, String(url.port)];
  if (host === undefined) {
    throw new CliError(
      2,
      `backends.${alias}: with Envoy Gateway give its url, or as cluster HOST:PORT of a Service, got ${cluster}`,
    );
  }
  const [, name, itsNamespace] =
    /^([^.]+)\.([^.]+)\.svc\.cluster\.local$/.exec(longName(host, namespace)) ?? [];
  if (name === undefined || itsNamespace === undefined) return undefined;
  if (url?.isTls === true) {
    throw new CliError(
      2,
      `backends.${alias}: TLS to a Service of the cluster is its BackendTLSPolicy's, and without one all goes in the clear. Write that, and ` +
        `give cluster: "${longName(host, namespace)}:${port}" in place of its url`,
    );
  }
  return { name, namespace: itsNamespace, port: Number(port) };
}
