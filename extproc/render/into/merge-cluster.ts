import { CLUSTER_BUFFER_BYTES, STAY_WITH_HOSTS } from "../parts/cluster.js";
import {
  codecFilter,
  protocolOptions,
  sinkEndpoint,
  type UpstreamPlace,
  upstreamFilters,
  WIDE_LIMITS,
} from "../parts/upstream.js";
import type { PlannedBackend } from "../plan.js";
import { mapOf } from "../policy-text.js";
import { commented, plain, type YamlMap } from "../yaml/value.js";
import {
  type Fields,
  type Findings,
  get,
  listIn,
  mapIn,
  nameIn,
  nameOf,
  put,
  putNew,
  without,
} from "./fields.js";
import type { Place } from "./find.js";

const OURS = "llm.breaker";
const OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const INJECTOR = "envoy.filters.http.credential_injector";
const ENOUGH_RETRIES = 100_000;
/** Of hosts' health: below it a few that are unhealthy send requests one priority down. */
const ENOUGH_FACTOR = 10_000;
/** Cluster types whose endpoints stand in the file, one by one. */
const WITH_ENDPOINTS = ["STATIC", "STRICT_DNS", undefined];

/** A cluster of theirs as a backend. */
export function mergeCluster(
  cluster: Place,
  backend: PlannedBackend,
  place: UpstreamPlace,
  findings: Findings,
): Fields {
  const { value } = cluster;
  const namespaces = mapIn(mapIn(value, "metadata"), "filter_metadata");
  const options = mapIn(mapOf(mapIn(value, "typed_extension_protocol_options")), OPTIONS);
  const hasKey = listIn(options, "http_filters").some((filter) => nameOf(filter) === INJECTOR);
  // What its own filters add must not reach the next tier.
  const own: Readonly<Record<string, string>> =
    hasKey && backend.metadata.credentials === undefined ? { credentials: "own" } : {};
  const ours = { ...backend, metadata: { ...backend.metadata, ...own } };
  let merged = put(value, "metadata", {
    ...mapIn(value, "metadata"),
    [nameIn(mapIn(value, "metadata"), "filter_metadata")]: { ...namespaces, [OURS]: ours.metadata },
  });
  merged = putNew(
    merged,
    "per_connection_buffer_limit_bytes",
    commented("TRAP: bounds one read of a held answer; see the listener's limit.", CLUSTER_BUFFER_BYTES),
  );
  merged = put(merged, "circuit_breakers", mergeLimits(cluster, findings));
  merged = mergeSink(cluster, merged, findings);
  return put(merged, "typed_extension_protocol_options", mergeOptions(value, ours, place));
}

/** Their bulkheads stay; only retries, which hold a slot until their first token, need room. */
function mergeLimits(cluster: Place, findings: Findings): unknown {
  const theirs = mapIn(cluster.value, "circuit_breakers");
  const wide = plain(WIDE_LIMITS) as { thresholds: readonly (Fields & { priority: string })[] };
  if (get(cluster.value, "circuit_breakers") === undefined) {
    return commented(
      "TRAP: the first cluster's retry limit (3 by default) holds a slot until the retry's first token: failing over would stop at the " +
        "fourth caller.",
      WIDE_LIMITS,
    );
  }
  const present = listIn(theirs, "thresholds").map(mapOf);
  const widened = present.map((threshold, at) => {
    if (get(threshold, "retry_budget") !== undefined) {
      const path = [...cluster.path, nameIn(cluster.value, "circuit_breakers"), "thresholds", at];
      findings.note(
        path,
        "retry_budget goes: a share of the active requests is next to nothing in an outage",
      );
    }
    const left = without(threshold, "retry_budget");
    return Number(get(left, "max_retries") ?? 0) >= ENOUGH_RETRIES
      ? left
      : put(left, "max_retries", ENOUGH_RETRIES);
  });
  const missing = wide.thresholds.filter(
    ({ priority }) => !present.some((threshold) => (threshold.priority ?? "DEFAULT") === priority),
  );
  return put(theirs, "thresholds", [...widened, ...missing]);
}

function mergeSink(cluster: Place, merged: Fields, findings: Findings): Fields {
  const { value, path } = cluster;
  const type = get(value, "type");
  if (!hasEndpoints(value)) {
    const what = type === undefined ? "this type of cluster" : String(type);
    const remedy =
      type === "LOGICAL_DNS" ? "make it STRICT_DNS" : "put it behind an aggregate cluster with a sink";
    findings.note(
      type === undefined ? path : [...path, "type"],
      `TRAP: ${what} has no room for the sink: while it has no host callers get a text 503 and no other tier; ${remedy}`,
    );
    return merged;
  }
  const assignment = mapIn(value, "load_assignment");
  const endpoints = listIn(assignment, "endpoints").map(mapOf);
  if (endpoints.some(isSink)) return merged;
  const lowest = Math.max(0, ...endpoints.map(({ priority }) => Number(priority ?? 0)));
  const isWeighted = get(mapIn(value, "common_lb_config"), "locality_weighted_lb_config") !== undefined;
  const sink: YamlMap = {
    priority: lowest + 1,
    // There a locality without a weight gets nothing.
    load_balancing_weight: isWeighted ? 1 : undefined,
    lb_endpoints: [sinkEndpoint()],
  };
  const note =
    "TRAP: with no host no filter runs and Envoy answers a text 503. The sink one priority down refuses the connection, which the meter sees.";
  const policy = mapIn(assignment, "policy");
  const held = put(assignment, "endpoints", [...endpoints, commented(note, sink)]);
  const factor = get(policy, "overprovisioning_factor");
  if (factor === undefined) {
    return put(merged, "load_assignment", put(held, "policy", { ...policy, ...STAY_WITH_HOSTS }));
  }
  if (Number(factor) < ENOUGH_FACTOR) {
    findings.note(
      [...path, nameIn(value, "load_assignment"), "policy"],
      `TRAP: overprovisioning_factor ${String(factor)} is left as it is: while some hosts are unhealthy a share of the requests goes to the ` +
        `sink, and fails; ${String(STAY_WITH_HOSTS.overprovisioning_factor)} keeps them with the others`,
    );
  }
  return put(merged, "load_assignment", held);
}

function hasEndpoints(cluster: Fields): boolean {
  const own = get(cluster, "cluster_type");
  if (own === undefined) return WITH_ENDPOINTS.includes(get(cluster, "type") as string | undefined);
  const settings = mapIn(mapOf(own), "typed_config");
  const isDns = /\.dns\.v3\.DnsCluster$/.test(String(settings["@type"]));
  return isDns && get(settings, "all_addresses_in_single_endpoint") !== true;
}

function isSink(endpoint: Fields): boolean {
  return listIn(endpoint, "lb_endpoints").some((host) => {
    return mapOf(mapIn(mapIn(mapOf(host), "metadata"), "filter_metadata")[OURS]).sink === "true";
  });
}

/** Everything of theirs stays, protocol and filters; the meter goes first, the codec stays last. */
function mergeOptions(cluster: Fields, backend: PlannedBackend, place: UpstreamPlace): Fields {
  const all = mapIn(cluster, "typed_extension_protocol_options");
  const theirs = all[OPTIONS] === undefined ? undefined : mapOf(all[OPTIONS]);
  if (theirs === undefined) return { ...all, ...legacyOptions(cluster, backend, place) };
  const ours = upstreamFilters(backend, place);
  const names = ours.map(({ name }) => name);
  const between = listIn(theirs, "http_filters").filter((filter) => {
    return !isCodec(filter) && !names.includes(nameOf(filter)) && !/^llm\.breaker\./.test(nameOf(filter));
  });
  const head = ours.filter(({ name }) => /^llm\.breaker\./.test(String(name)));
  const tail = ours.filter(({ name }) => !/^llm\.breaker\./.test(String(name)));
  const codec = listIn(theirs, "http_filters").find(isCodec);
  const end = tail.map((filter) => (filter.name === codecFilter.name ? (codec ?? filter) : filter));
  return { ...all, [OPTIONS]: put(theirs, "http_filters", [...head, ...between, ...end]) };
}

function isCodec(filter: unknown): boolean {
  const type = String(mapIn(mapOf(filter), "typed_config")["@type"]);
  return nameOf(filter) === codecFilter.name || /\.upstream_codec\.v3\.UpstreamCodec$/.test(type);
}

/** Options that stand in the cluster itself count no more beside the extension's: they are said again there. */
function legacyOptions(cluster: Fields, backend: PlannedBackend, place: UpstreamPlace): YamlMap {
  const http2 = get(cluster, "http2_protocol_options");
  const http1 = get(cluster, "http_protocol_options");
  const isHttp2 = http2 !== undefined || backend.isHttp2;
  const said = isHttp2 ? { http2_protocol_options: mapOf(http2) } : { http_protocol_options: mapOf(http1) };
  const further = {
    ...(http2 === undefined && http1 === undefined ? {} : { explicit_http_config: said }),
    common_http_protocol_options: get(cluster, "common_http_protocol_options"),
    upstream_http_protocol_options: get(cluster, "upstream_http_protocol_options"),
  };
  return protocolOptions(upstreamFilters(backend, place), isHttp2, further as YamlMap);
}
