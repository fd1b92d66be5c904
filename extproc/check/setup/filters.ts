import type { Located } from "../tree/located.js";

/** What a filter is to the breaker. */
export type FilterRole =
  | "gate"
  | "count"
  | "admit"
  | "remember"
  | "meter"
  | "rewrite"
  | "guard"
  | "router"
  | "codec"
  | "credentials"
  | "authentication"
  | "picker"
  | "other";

export interface HttpFilter {
  readonly role: FilterRole;
  readonly name: string;
  /** The entry in the list of filters. */
  readonly at: Located;
  /** The filter's own configuration, from inside of whatever wraps it. */
  readonly config: Located;
  /** Wasm: the plugin's configuration. */
  readonly plugin: Located | undefined;
  /** It stands in a matcher, so that not every request meets it. */
  readonly isMatched: boolean;
  readonly isDisabled: boolean;
  /** Its configuration comes from elsewhere (ECDS), so what is missing here may be there. */
  readonly isDiscovered: boolean;
}

const WASM_ROLES = ["gate", "admit", "meter", "guard"];
const SERVICE_ROLES = ["count", "rewrite", "remember"];
const AUTHENTICATION =
  /^(JwtAuthn\w*|ExtAuthz|RBAC|BasicAuth|ApiKeyAuth|OAuth2|JwtAuthentication|GcpAuthn\w*)$/;
const MAX_WRAPPERS = 8;
/** The name that an InferencePool's endpoint picker has in Istio. */
export const PICKER = "envoy.filters.http.ext_proc";

export function filtersOf(list: readonly Located[]): HttpFilter[] {
  return list.map(readFilter);
}

export function readFilter(at: Located): HttpFilter {
  const name = at.textOf("name") ?? "";
  const discovery = at.get("config_discovery");
  const { config, isMatched } = unwrap(at.get("typed_config") ?? discovery?.get("default_config") ?? at);
  const plugin = config.type === "Wasm" ? config.get("config") : undefined;
  return {
    role: roleOf(name, config, plugin),
    name,
    at,
    config,
    plugin,
    isMatched,
    isDisabled: at.isTrue("disabled"),
    isDiscovered: discovery !== undefined,
  };
}

/** Through ExtensionWithMatcher and Composite, to the filter that really runs. */
function unwrap(outer: Located): { config: Located; isMatched: boolean } {
  let config = outer;
  let isMatched = false;
  for (let depth = 0; depth < MAX_WRAPPERS; depth++) {
    if (config.type === "ExtensionWithMatcher") {
      isMatched = true;
      const inner = config.get("extension_config", "typed_config");
      config = (inner?.type === "Composite" ? executed(config) : inner) ?? config;
      if (config.type === "ExtensionWithMatcher") break;
    } else if (config.type === "TypedStruct" && config.get("value") !== undefined) {
      config = config.get("value") as Located;
    } else break;
  }
  return { config, isMatched };
}

function executed(withMatcher: Located): Located | undefined {
  const list = withMatcher.list("xds_matcher", "matcher_list", "matchers");
  const trees = ["exact_match_map", "prefix_match_map"].flatMap((kind) => [
    ...(withMatcher.get("xds_matcher", "matcher_tree", kind, "map")?.fields.values() ?? []),
  ]);
  const actions = [
    ...list.map((each) => each.get("on_match", "action")),
    ...trees.map((each) => each.get("action")),
  ];
  for (const action of actions) {
    const filter = action?.get("typed_config", "typed_config", "typed_config");
    if (filter !== undefined) return filter;
  }
  return undefined;
}

function roleOf(name: string, config: Located, plugin: Located | undefined): FilterRole {
  const named = /llm.?breaker\W+(\w+)$/i.exec(name)?.[1] ?? "";
  if (plugin !== undefined) {
    const root = plugin.textOf("root_id") ?? "";
    const isOurs =
      named !== "" ||
      (plugin.textOf("vm_config", "vm_id") ?? "").startsWith("llm.breaker") ||
      isOurModule(plugin);
    if (!isOurs) return "other";
    return (WASM_ROLES.find((role) => role === root) ??
      WASM_ROLES.find((role) => role === named) ??
      "other") as FilterRole;
  }
  if (config.type === "ExternalProcessor") {
    const role = [serviceRole(config) ?? "", named].find((each) => SERVICE_ROLES.includes(each));
    if (role !== undefined) return role as FilterRole;
    return name === PICKER ? "picker" : "other";
  }
  if (config.type === "Router" || name === "envoy.filters.http.router") return "router";
  if (config.type === "UpstreamCodec" || name === "envoy.filters.http.upstream_codec") return "codec";
  if (config.type === "CredentialInjector") return "credentials";
  if (AUTHENTICATION.test(config.type)) return "authentication";
  return [...WASM_ROLES, ...SERVICE_ROLES].includes(named) ? (named as FilterRole) : "other";
}

/** By what only our modules are called. */
function isOurModule(plugin: Located): boolean {
  const file = plugin.textOf("vm_config", "code", "local", "filename") ?? "";
  return /llm-breaker/.test(file);
}

/** The role that a call to the service is told by. */
export function serviceRole(config: Located): string | undefined {
  const metadata = config.list("grpc_service", "initial_metadata");
  return metadata.find((each) => each.textOf("key") === "x-llm-breaker-role")?.textOf("value");
}
