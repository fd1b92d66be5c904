import { downstreamFilters, wantsOf } from "../parts/filters.js";
import {
  JSON_REPLIES,
  matcherOf,
  REQUEST_BODY_LIMIT,
  RETRY_HEADER,
  STREAM_IDLE_TIMEOUT,
} from "../parts/listener.js";
import { limitHeaders, usageLog } from "../parts/replies.js";
import { hasMatcher, MATCHER_NAME } from "../parts/routing.js";
import type { UpstreamPlace } from "../parts/upstream.js";
import type { Plan } from "../plan.js";
import { mapOf } from "../policy-text.js";
import { commented, plain, type YamlValue } from "../yaml/value.js";
import type { ChosenRoute } from "./choose.js";
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
  secondsOf,
} from "./fields.js";
import { type Place, startsWith, virtualHostsOf } from "./find.js";
import { mergeRoute } from "./merge-route.js";

const IDLE_SECONDS = 900;
const ROUTER = "envoy.filters.http.router";

export interface MergeMeans {
  readonly plan: Plan;
  readonly place: UpstreamPlace;
  readonly canChangeCluster: boolean;
  readonly findings: Findings;
}

/** An HTTP connection manager of theirs with the breaker in it; the same if none of its routes is chosen. */
export function mergeManager(manager: Place, chosen: readonly ChosenRoute[], means: MergeMeans): Fields {
  const { plan, place, findings } = means;
  const inIt = chosen.filter(({ route }) => startsWith(route.path, manager.path));
  if (inIt.length === 0) return manager.value;
  const { limits } = wantsOf(plan);
  let merged = putNew(manager.value, "stream_idle_timeout", STREAM_IDLE_TIMEOUT);
  const idle = get(manager.value, "stream_idle_timeout");
  if (idle !== undefined && secondsOf(idle) !== 0 && (secondsOf(idle) ?? 0) < IDLE_SECONDS) {
    findings.note(
      [...manager.path, nameIn(manager.value, "stream_idle_timeout")],
      `TRAP: stream_idle_timeout ${String(idle)} is left as it is: so much silence ends a failover in its middle; ${IDLE_SECONDS}s is enough`,
    );
  }
  if (limits && place.serviceCluster !== undefined) {
    const logs = withNamed(listIn(merged, "access_log"), [usageLog(place.serviceCluster)]);
    merged = put(merged, "access_log", logs);
  }
  merged = putNew(merged, "local_reply_config", JSON_REPLIES);
  merged = put(merged, "http_filters", mergeFilters(manager, means));
  return put(merged, "route_config", mergeRoutes(manager, inIt, means));
}

/** Ours in front of the router, behind whatever of theirs knows the caller. */
function mergeFilters(manager: Place, { plan, place, findings }: MergeMeans): readonly unknown[] {
  const theirs = listIn(manager.value, "http_filters");
  const ours = downstreamFilters(plan, place);
  const router = theirs.findIndex((filter) => nameOf(filter) === ROUTER || isRouter(filter));
  if (router < 0) {
    findings.fault(
      [...manager.path, nameIn(manager.value, "http_filters")],
      `has no ${ROUTER}, before which the breaker goes`,
    );
    return theirs;
  }
  const names = ours.map(nameOfOurs);
  const isOurs = (filter: unknown) =>
    names.includes(nameOf(filter)) || /^llm\.breaker\./.test(nameOf(filter));
  const before = theirs.slice(0, router).filter((filter) => !isOurs(filter));
  return [...before, ...ours, ...theirs.slice(router)];
}

function isRouter(filter: unknown): boolean {
  return /\.http\.router\.v3\.Router$/.test(String(mapIn(mapOf(filter), "typed_config")["@type"]));
}

function nameOfOurs(filter: YamlValue): string {
  return nameOf(plain(filter));
}

function mergeRoutes(manager: Place, chosen: readonly ChosenRoute[], means: MergeMeans): Fields {
  const { plan } = means;
  const theirs = mapIn(manager.value, "route_config");
  let merged = theirs;
  const removed = listIn(theirs, "response_headers_to_remove");
  if (!removed.includes(RETRY_HEADER)) {
    const text = "x-llm-breaker-retry is never for clients' eyes.";
    const list = [...removed, RETRY_HEADER];
    merged = put(
      merged,
      "response_headers_to_remove",
      removed.length === 0 ? commented(text, list as YamlValue[]) : list,
    );
  }
  if (wantsOf(plan).limits) {
    const headers = listIn(theirs, "response_headers_to_add");
    const present = headers.map(headerKey);
    const missing = limitHeaders().filter((header) => !present.includes(headerKey(header)));
    merged = put(merged, "response_headers_to_add", [...headers, ...missing]);
  }
  if (hasMatcher(plan)) merged = put(merged, "cluster_specifier_plugins", mergePlugins(theirs, means));
  return put(merged, "virtual_hosts", mergeHosts(manager, chosen, means));
}

function headerKey(header: unknown): string {
  return String(mapOf(mapOf(header).header).key);
}

function mergePlugins(theirs: Fields, { plan }: MergeMeans): readonly unknown[] {
  const plugins = listIn(theirs, "cluster_specifier_plugins");
  const ours = commented("Goes to the backend that the gate, or the meter, has named.", {
    extension: matcherOf(plan),
  });
  const at = plugins.findIndex((plugin) => nameOf(mapOf(plugin).extension) === MATCHER_NAME);
  return at < 0 ? [...plugins, ours] : plugins.with(at, ours);
}

function mergeHosts(manager: Place, chosen: readonly ChosenRoute[], means: MergeMeans): readonly unknown[] {
  return virtualHostsOf(manager).map((host) => {
    const inIt = chosen.filter(({ route }) => startsWith(route.path, host.path));
    if (inIt.length === 0) return host.value;
    const limit =
      get(host.value, "request_body_buffer_limit") ?? get(host.value, "per_request_buffer_limit_bytes");
    const routes = listIn(host.value, "routes").map((route, at) => {
      const found = inIt.find((each) => each.route.path.at(-1) === at);
      return found === undefined
        ? route
        : mergeRoute(found, means.plan, means.canChangeCluster, means.findings);
    });
    const merged =
      limit === undefined ? put(host.value, "request_body_buffer_limit", REQUEST_BODY_LIMIT) : host.value;
    return put(merged, "routes", routes);
  });
}

/** Those of theirs, with each of ours in the place of the one that has its name, or at the end. */
function withNamed(theirs: readonly unknown[], ours: readonly YamlValue[]): readonly unknown[] {
  const names = theirs.map(nameOf);
  const replaced = theirs.map((item) => ours.find((each) => nameOfOurs(each) === nameOf(item)) ?? item);
  return [...replaced, ...ours.filter((each) => !names.includes(nameOfOurs(each)))];
}

/** The listener's limit has to hold what is held of an answer and one read more. */
export function mergeListener(
  listener: Place,
  merged: Fields,
  leastBytes: number,
  findings: Findings,
  ours: YamlValue,
): Fields {
  const name = nameIn(listener.value, "per_connection_buffer_limit_bytes");
  const limit = listener.value[name];
  if (limit === undefined) return put(merged, name, ours);
  if (Number(limit) >= leastBytes) return merged;
  findings.note(
    [...listener.path, name],
    `per_connection_buffer_limit_bytes ${String(limit)} is raised: a held answer over it would be a bare 500`,
  );
  return put(merged, name, plain(ours));
}
