import { CliError } from "../../../cli-error.js";
import type { Plan } from "../../plan.js";
import type { TargetValues } from "../../target.js";

export type Context = "GATEWAY" | "SIDECAR_OUTBOUND";

/** What Istio's build of Envoy can do, by its version: docs/mesh.md. */
export type Profile = "failover" | "matcher" | "tier-routes";

export interface IstioSettings {
  readonly minor: number;
  readonly profile: Profile;
  readonly context: Context;
  readonly namespace: string;
  /** Whose proxies the patches are for: labels of a workload, or the name of a Gateway of the Gateway API. */
  readonly selector: Readonly<Record<string, string>> | undefined;
  readonly gateway: string | undefined;
  /** The VirtualService's `http[].name`, or `<namespace>.<name>.<rule>` of an HTTPRoute. */
  readonly route: string;
  /** Only listeners of this port. */
  readonly port: number | undefined;
  readonly serviceHost: string;
  readonly wasmFolder: string;
  /** Alias to the name of its InferencePool. */
  readonly pools: ReadonlyMap<string, string>;
  /** The filter that ours stand before. */
  readonly anchor: string;
}

export const ISTIO_OPTIONS = {
  "istio-version": { type: "string" },
  context: { type: "string" },
  namespace: { type: "string" },
  selector: { type: "string" },
  gateway: { type: "string" },
  route: { type: "string" },
  port: { type: "string" },
  "service-host": { type: "string" },
  wasm: { type: "string" },
  "inference-pool": { type: "string", multiple: true },
  "tier-routes": { type: "boolean" },
  anchor: { type: "string" },
} as const;

export const MESH_WASM_FOLDER = "/var/lib/llm-breaker";

const OLDEST = 28;
const NEWEST_KNOWN = 32;
const EPP_FILTER = "envoy.filters.http.ext_proc";

const CONTEXTS: Readonly<Record<string, Context>> = { gateway: "GATEWAY", sidecar: "SIDECAR_OUTBOUND" };

/** @throws CliError */
export function istioSettings(plan: Plan, values: TargetValues): IstioSettings {
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === "string" ? value : undefined;
  };
  const minor = minorOf(text("istio-version") ?? "1.31");
  const context = CONTEXTS[text("context") ?? "gateway"];
  if (context === undefined) throw refusal("context", "gateway or sidecar", text("context"));
  const namespace = text("namespace") ?? "llm";
  const gateway = text("gateway");
  const selector = selectorOf(text("selector"), context, gateway);
  const pools = poolsOf(values["inference-pool"], plan);
  return {
    minor,
    profile: values["tier-routes"] === true ? "tier-routes" : profileOf(minor),
    context,
    namespace,
    selector,
    gateway,
    route: text("route") ?? `llm-${plan.name}`,
    port: portOf(text("port")),
    serviceHost: text("service-host") ?? serviceHost(plan, namespace),
    wasmFolder: text("wasm") ?? MESH_WASM_FOLDER,
    pools,
    anchor: text("anchor") ?? (pools.size > 0 ? EPP_FILTER : "istio.alpn"),
  };
}

function refusal(option: string, rule: string, given: string | undefined): CliError {
  return new CliError(2, `--${option} must be ${rule}, got ${given ?? "nothing"}`);
}

function minorOf(version: string): number {
  const [, minor] = /^1\.(\d{1,3})(\.\d+)?$/.exec(version) ?? [];
  if (minor === undefined) throw refusal("istio-version", "a version like 1.31", version);
  if (Number(minor) < OLDEST) {
    throw new CliError(
      2,
      `--istio-version ${version}: Istio before 1.${OLDEST} has an Envoy before 1.36, which lacks what the meter needs. ` +
        "Run the breaker as an Envoy of its own: --target kubernetes",
    );
  }
  return Number(minor);
}

function profileOf(minor: number): Profile {
  if (minor >= 31) return "failover";
  return minor === 30 ? "matcher" : "tier-routes";
}

function selectorOf(
  given: string | undefined,
  context: Context,
  gateway: string | undefined,
): Readonly<Record<string, string>> | undefined {
  if (gateway !== undefined) {
    if (given === undefined && context === "GATEWAY") return undefined;
    throw new CliError(
      2,
      "--gateway names a Gateway of the Gateway API: leave --selector and --context sidecar out",
    );
  }
  if (given === undefined && context === "SIDECAR_OUTBOUND") {
    throw new CliError(
      2,
      "--context sidecar needs --selector: the labels of the pods that call models, like app=chat",
    );
  }
  const pairs = (given ?? "istio=llm-gateway").split(",").map((pair) => pair.split("="));
  for (const [key = "", value, ...more] of pairs) {
    if (key === "" || value === undefined || value === "" || more.length > 0) {
      throw refusal("selector", "labels like app=chat,tier=web", given);
    }
  }
  return Object.fromEntries(pairs) as Record<string, string>;
}

function portOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const port = Number(given);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw refusal("port", "a port", given);
  return port;
}

function poolsOf(given: TargetValues[string], plan: Plan): ReadonlyMap<string, string> {
  const pools = new Map<string, string>();
  for (const each of Array.isArray(given) ? given : []) {
    const [, alias = "", pool = ""] = /^([\w-]+)=([a-z0-9][a-z0-9.-]*)$/.exec(String(each)) ?? [];
    if (!plan.backends.some((backend) => backend.alias === alias)) {
      throw refusal("inference-pool", "BACKEND=POOL with a backend of the policy", String(each));
    }
    pools.set(alias, pool);
  }
  return pools;
}

/** The policy's own word, unless it is the machine Envoy runs on: in a mesh that is a pod without the service. */
function serviceHost(plan: Plan, namespace: string): string {
  const host = plan.service?.host;
  const isElsewhere = host !== undefined && !/^(127\.|localhost$|::1$)/.test(host);
  return isElsewhere ? longName(host, namespace) : `llm-breaker.${namespace}.svc.cluster.local`;
}

/** A Kubernetes Service by the one name that Istio's registry has for it. */
export function longName(host: string, namespace: string): string {
  if (!host.includes(".")) return `${host}.${namespace}.svc.cluster.local`;
  return host.endsWith(".svc") ? `${host}.cluster.local` : host;
}

/** Newer than what was looked at: it is written as for the newest that was. */
export function isUnknown({ minor }: IstioSettings): boolean {
  return minor > NEWEST_KNOWN;
}

const GUARDS: Readonly<Record<number, string>> = {
  28: "(2[89]|[3-9][0-9])",
  29: "(29|[3-9][0-9])",
  30: "([3-9][0-9])",
};

/** Only proxies that know what a patch names: an older one would refuse every route. */
export function proxyVersion({ minor, profile }: IstioSettings): string {
  const from = profile === "failover" ? 31 : profile === "matcher" ? 30 : Math.min(minor, 30);
  return `^1\\.${GUARDS[from] ?? "(3[1-9]|[4-9][0-9])"}\\..*`;
}
