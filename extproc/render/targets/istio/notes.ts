import { wantsOf } from "../../parts/filters.js";
import type { Plan } from "../../plan.js";
import { type IstioSettings, isUnknown } from "./settings.js";
import type { Tier } from "./tiers.js";

/** What this version can't do, and what is left to whoever applies it. */
export function notesFor(plan: Plan, tiers: readonly Tier[], settings: IstioSettings): readonly string[] {
  return [
    ...versionNotes(settings),
    ...protocolNotes(plan, tiers),
    ...poolNotes(settings),
    ...placeNotes(plan, settings),
  ];
}

function versionNotes(settings: IstioSettings): readonly string[] {
  const notes: string[] = [];
  if (isUnknown(settings)) {
    notes.push(
      `Istio 1.${settings.minor} is newer than what this was made for: written as for the newest known.`,
    );
  }
  if (settings.profile === "matcher") {
    notes.push(
      "Istio 1.30: no failover of requests in flight, since its Envoy keeps a retry at its cluster. Tiers change at admission, once a " +
        "backend is Open. From 1.31 on: render again.",
    );
  }
  if (settings.profile === "tier-routes") {
    notes.push(
      "A route for each tier: no failover of requests in flight; tiers change at admission, once a backend is Open. What your own route " +
        "does with a request (rewrites, headers) is not done on those. From Istio 1.31 on: render without them.",
    );
  }
  return notes;
}

function protocolNotes({ chains }: Plan, tiers: readonly Tier[]): readonly string[] {
  return chains.flatMap((chain) => {
    const own = tiers.filter(({ backend }) => chain.tiers.includes(backend.alias));
    const inMesh = own.filter(({ isExternal }) => !isExternal);
    const isMixed = new Set(inMesh.map(({ backend }) => backend.isHttp2)).size > 1;
    if (!isMixed) return [];
    return [
      `chain ${chain.name} mixes HTTP/1 and HTTP/2 backends: a retry keeps the ALPN of its first tier, which mTLS servers of the other ` +
        "protocol refuse. Give all the same `http2`, or set PILOT_ENABLE_ALPN_FILTER=false and --anchor envoy.filters.http.fault.",
    ];
  });
}

function poolNotes({ pools }: IstioSettings): readonly string[] {
  if (pools.size === 0) return [];
  return [
    `InferencePool ${[...pools.values()].join(", ")}: the endpoint picker's own refusals (503 without a ready pod, 429) are given to callers ` +
      "as they are, and the breaker does not see them. Set the pool's failureMode to FailOpen.",
  ];
}

function placeNotes(plan: Plan, settings: IstioSettings): readonly string[] {
  const notes = [
    `Nothing is applied, and nobody says so, unless ${whereOf(settings)} and the route is named ${settings.route} (--route).`,
    `The modules have to be in ${settings.wasmFolder} of the proxies: see the top of the file.`,
    'Metrics: proxies show ours only with proxyStatsMatcher: { inclusionRegexps: [".*llm_breaker.*"] } in their proxy.istio.io/config.',
    "Callers' sidecars retry, too: set `retries: { attempts: 0 }` in the VirtualService by which they come here, or attempts multiply.",
  ];
  const files = plan.backends.flatMap(({ credential }) => (credential ? [credential.secretFile] : []));
  if (files.length > 0) {
    notes.push(
      `Keys are read from ${files.join(", ")} in the proxies: mount the Secret there (istiod's SDS gives TLS secrets only).`,
    );
  }
  if (plan.service)
    notes.push(
      `The service has to be ${settings.serviceHost}: --target kubernetes --service only writes it.`,
    );
  if (plan.service && wantsOf(plan).limits) {
    notes.push(
      "Limits: callers are told apart by the headers in the service's `callers.headers`; name only what your authentication checks.",
    );
  }
  if (settings.context === "SIDECAR_OUTBOUND") {
    notes.push(
      "Apps must call plain http:// URLs, or the sidecar sees only TLS. A `Sidecar` object must let through the hosts of all tiers and of the service.",
    );
  }
  return notes;
}

function whereOf({ gateway, selector }: IstioSettings): string {
  if (gateway !== undefined) return `the Gateway is ${gateway}`;
  const labels = Object.entries(selector ?? {}).map(([name, value]) => `${name}=${value}`);
  return `the proxies have the labels ${labels.join(", ")} (--selector)`;
}
