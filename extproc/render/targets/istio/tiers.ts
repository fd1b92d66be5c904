import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { CliError } from "../../../cli-error.js";
import type { Plan, PlannedBackend } from "../../plan.js";
import { type IstioSettings, longName } from "./settings.js";

const POOL_PORT = 54_321;
const POOL_NAME_LIMIT = 63;
const POOL_HASH = 8;

/** Where Istio has a backend. */
export interface Tier {
  readonly backend: PlannedBackend;
  readonly host: string;
  readonly port: number;
  readonly subset: string;
  /** Istio's own cluster of it. */
  readonly istioCluster: string;
  /** The cluster that requests go to: its own with the meter on it, or one of ours around it. */
  readonly cluster: string;
  readonly isPool: boolean;
  /** Istio's registry does not know it without a ServiceEntry. */
  readonly isExternal: boolean;
}

/** @throws CliError */
export function tiersOf(plan: Plan, settings: IstioSettings): readonly Tier[] {
  const tiers = plan.backends.map((backend) => tierOf(plan, backend, settings));
  refusePoolsBehindOthers(plan, settings);
  refuseOtherServersAtOneHost(tiers);
  return tiers;
}

/** One ServiceEntry is all that the registry has for a host, so all at it must be reached in one way. */
function refuseOtherServersAtOneHost(tiers: readonly Tier[]): void {
  const external = tiers.filter(({ isExternal }) => isExternal);
  for (const [at, tier] of external.entries()) {
    const other = external.slice(0, at).find((each) => each.host === tier.host && !canShare(each, tier));
    if (other !== undefined) {
      throw new CliError(
        2,
        `backends.${tier.backend.alias} and backends.${other.backend.alias} are at ${tier.host}, with another port, protocol or caFile: the ` +
          `registry has one entry for a host. Write a ServiceEntry of yours for one of them, and give cluster: "HOST:PORT" in place of its url`,
      );
    }
  }
}

function canShare(one: Tier, other: Tier): boolean {
  const [first, second] = [one.backend, other.backend];
  if (first.url?.isTls !== second.url?.isTls) return false;
  if (one.port !== other.port) return true;
  return first.isHttp2 === second.isHttp2 && isDeepStrictEqual(first.url, second.url);
}

function tierOf(plan: Plan, backend: PlannedBackend, settings: IstioSettings): Tier {
  const pool = settings.pools.get(backend.alias);
  const place = pool === undefined ? placeOf(plan, backend, settings) : poolPlace(pool, settings);
  const istioCluster = `outbound|${place.port}|${place.subset}|${place.host}`;
  const isPool = pool !== undefined;
  return {
    ...place,
    backend,
    istioCluster,
    cluster: isPool ? istioCluster : `llm.breaker.tier.${backend.alias}`,
    isPool,
  };
}

type Place = Pick<Tier, "host" | "port" | "subset" | "isExternal">;

/** An external server behind TLS is called at port 80 in the mesh: its own 443 stays what other callers encrypt themselves. */
const PLAIN_PORT = 80;

function placeOf(plan: Plan, backend: PlannedBackend, { namespace }: IstioSettings): Place {
  const { url, alias, cluster } = backend;
  if (url === undefined) return clusterPlace(alias, cluster, namespace);
  if (url.isAddress) {
    return {
      host: `${alias}.${plan.name}.llm-breaker.internal`,
      port: url.port,
      subset: "",
      isExternal: true,
    };
  }
  const host = longName(url.host, namespace);
  const isExternal = !host.endsWith(".svc.cluster.local");
  if (!isExternal && url.isTls) {
    throw new CliError(
      2,
      `backends.${alias}: TLS to a Service of the cluster is its DestinationRule's, and without one all goes in the clear. Write that ` +
        `(trafficPolicy.tls), and give cluster: "${host}:${url.port}" in place of its url`,
    );
  }
  return { host, port: isExternal && url.isTls ? PLAIN_PORT : url.port, subset: "", isExternal };
}

function clusterPlace(alias: string, cluster: string, namespace: string): Place {
  const [, port, subset = "", host] =
    /^outbound\|(\d+)\|([^|]*)\|([^|]+)$/.exec(cluster) ??
    reordered(/^([\w.-]+):(\d+)(?:\/([\w.-]+))?$/.exec(cluster)) ??
    [];
  if (host === undefined || port === undefined) {
    throw new CliError(
      2,
      `backends.${alias}: with Istio give its url, or as cluster HOST:PORT or HOST:PORT/SUBSET of a Service or ServiceEntry, ` +
        `got ${cluster}`,
    );
  }
  return { host: longName(host, namespace), port: Number(port), subset, isExternal: false };
}

function reordered(match: RegExpExecArray | null): (string | undefined)[] | undefined {
  return match === null ? undefined : [match[0], match[2], match[3], match[1]];
}

/** The Service that Istio makes for a pool: its name, and the first digits of the name's SHA-256. */
function poolPlace(pool: string, { namespace }: IstioSettings): Place {
  const hash = createHash("sha256").update(pool).digest("hex").slice(0, POOL_HASH);
  const name = pool.slice(0, POOL_NAME_LIMIT - "-ip-".length - POOL_HASH);
  return {
    host: `${name}-ip-${hash}.${namespace}.svc.cluster.local`,
    port: POOL_PORT,
    subset: "",
    isExternal: false,
  };
}

/** A retry that goes from one tier to a pool would be spread over its pods without its endpoint picker. */
function refusePoolsBehindOthers(plan: Plan, { pools, profile }: IstioSettings): void {
  if (profile === "tier-routes") return;
  for (const { name, tiers } of plan.chains) {
    const behind = tiers.slice(1).find((alias) => pools.has(alias));
    if (behind === undefined) continue;
    throw new CliError(
      2,
      `chains.${name}.tiers: ${behind} is an InferencePool behind another tier, and a retry asks no endpoint picker. ` +
        "Make it the first tier, or render with --tier-routes, where tiers change at admission only",
    );
  }
}
