import { ADMISSION_KEYS } from "./backend-fields.js";
import { compactJson } from "./compact-json.js";

type Fields = Readonly<Record<string, unknown>>;

/** Cluster of the service's HTTP port, where a target has no name of its own for it. */
export const SERVICE_CLUSTER = "llm-breaker-service-http";

/** Of a chain: what is the renderer's alone. */
const OWN_CHAIN_KEYS = ["prefix"];
const DEFAULT_ATTEMPTS = 4;

/** Whether the policy asks for what only the service can do. */
export function needsService(file: Fields): boolean {
  const chains = Object.values(mapOf(file.chains)).map(mapOf);
  const breakers = [file.breaker, ...Object.values(mapOf(file.backends)).map((each) => mapOf(each).breaker)];
  return (
    chains.some(({ limits, exhausted }) => {
      return limits === true || ["fixed", "cached"].includes(String(mapOf(exhausted).action));
    }) || breakers.some((breaker) => mapOf(mapOf(breaker).canary).size === "count")
  );
}

export interface PolicyMeans {
  readonly hasService: boolean;
  /** Whether the backend's body has to be rewritten, by alias. */
  readonly rewritesBody: (alias: string) => boolean;
  /** Alias to the cluster that is there already. */
  readonly clusterOf: (alias: string) => string;
  /** The model that probes name; undefined: whatever the file says. */
  readonly probeModel: string | undefined;
  /** The same of one backend, where it is another. */
  readonly ownProbeModel: (alias: string) => string | undefined;
}

/**
 * The gate's configuration out of policy.yaml, which may be faulty: its parser tells. Without the service canaries go by content-length;
 * attempts that are not stated suffice for each tier and one second try.
 */
export function policyOf(file: Fields, name: string, means: PolicyMeans): Fields {
  const backends = entriesOf(file.backends).map(([alias, given]) => [alias, backendOf(alias, given, means)]);
  const chains = entriesOf(file.chains).map(([chain, given]) => [chain, chainOf(given)]);
  return clean({
    name,
    service: means.hasService ? { cluster: SERVICE_CLUSTER } : undefined,
    breaker: probing(means.hasService ? file.breaker : estimating(file.breaker), means.probeModel),
    shedClasses: file.shedClasses,
    tracing: file.tracing,
    backends: isMap(file.backends) ? Object.fromEntries(backends) : file.backends,
    defaultChain: file.defaultChain,
    chains: isMap(file.chains) ? Object.fromEntries(chains) : file.chains,
  });
}

function backendOf(alias: string, given: unknown, means: PolicyMeans): unknown {
  if (!isMap(given)) return given ?? {};
  const admission = Object.fromEntries(ADMISSION_KEYS.map((key) => [key, given[key]]));
  const cluster = means.clusterOf(alias);
  return clean({
    cluster: cluster === alias ? undefined : cluster,
    ...admission,
    rewritesBody: means.rewritesBody(alias) || undefined,
    breaker: probing(admission.breaker, means.ownProbeModel(alias)),
  });
}

function chainOf(given: unknown): unknown {
  if (!isMap(given)) return given;
  const chain = Object.fromEntries(Object.entries(given).filter(([key]) => !OWN_CHAIN_KEYS.includes(key)));
  const wanted = attemptsFor(chain);
  return wanted === DEFAULT_ATTEMPTS ? chain : { ...chain, maxAttempts: chain.maxAttempts ?? wanted };
}

/** As the parser has it, but for a chain of many tiers, whose last would never be asked. */
export function attemptsFor(chain: Fields): number {
  if (typeof chain.maxAttempts === "number") return chain.maxAttempts;
  // A route that names its cluster can't send a second attempt anywhere else.
  if (chain.routing === "fixed") return 1;
  const tiers = Array.isArray(chain.tiers) ? chain.tiers.length : 0;
  const sameTierRetries = typeof chain.sameTierRetries === "number" ? chain.sameTierRetries : 1;
  return Math.min(Math.max(tiers + sameTierRetries, DEFAULT_ATTEMPTS), 16);
}

function estimating(breaker: unknown): unknown {
  if (breaker !== undefined && breaker !== null && !isMap(breaker)) return breaker;
  const shared = mapOf(breaker);
  return { ...shared, canary: { size: "estimate", ...mapOf(shared.canary) } };
}

/** Many servers refuse a chat that names no model they know, and a probe that is refused closes nothing. */
function probing(breaker: unknown, model: string | undefined): unknown {
  if (model === undefined || (breaker !== undefined && !isMap(breaker))) return breaker;
  return {
    ...mapOf(breaker),
    probe: { body: { model, messages: [{ role: "user", content: "hi" }], max_tokens: 1 } },
  };
}

export function isMap(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Nothing, where something else stands: that is told of elsewhere. */
export function mapOf(value: unknown): Fields {
  return isMap(value) ? value : {};
}

export function entriesOf(value: unknown): [string, unknown][] {
  return Object.entries(mapOf(value));
}

function clean(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The same policy with a target's own names of clusters; `serviceCluster` is that of the service's HTTP port. */
export function policyWith(
  policy: string,
  clusterOf: (alias: string) => string,
  serviceCluster: string,
): string {
  const fields = JSON.parse(policy) as Fields;
  const backends = entriesOf(fields.backends).map(([alias, given]) => {
    const { cluster: _, ...others } = mapOf(given);
    const cluster = clusterOf(alias);
    return [alias, cluster === alias ? others : { cluster, ...others }];
  });
  const service = fields.service === undefined ? undefined : { cluster: serviceCluster };
  return compactJson(clean({ ...fields, service, backends: Object.fromEntries(backends) }));
}

/** The same policy for a gate that sees no requests but those of one chain, or that has the model choose for all of them. */
export function policyNaming(policy: string, chain: string | undefined): string {
  if (chain === undefined) return policy;
  const { name, ...others } = JSON.parse(policy) as Fields;
  return compactJson({ name, chain, ...others });
}
