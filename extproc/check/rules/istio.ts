import { PICKER } from "../setup/filters.js";
import type { Located } from "../tree/located.js";
import { anchorOf, isBelow, OURS, patches, specifierOf } from "./istio-patches.js";
import { sameHost } from "./mesh-routes.js";
import type { Rule } from "./rule.js";

export const istioRules: readonly Rule[] = [
  {
    id: "proxy-version-guard",
    level: "error",
    harm: "a proxy that does not know the matcher refuses all of its route updates, other teams' too",
    fix: "match: { proxy: { proxyVersion: '^1\\.(3[1-9]|[4-9][0-9])\\..*' } } on each patch",
    *find(setup) {
      for (const { at, value, object } of patches(setup)) {
        const needs = specifierOf(value) ?? value.get("route", "retry_policy", "refresh_cluster_on_retry");
        if (needs && !at.at("match", "proxy", "proxyVersion"))
          yield { at, what: `a patch of ${object.name} has no proxyVersion` };
      }
    },
  },
  {
    id: "matcher-unknown",
    level: "error",
    harm: "its proxies lack the matcher: they refuse all route updates",
    fix: "Istio 1.31, or a route per tier: llm-breaker render --target istio --istio-version 1.29",
    *find(setup) {
      if (!isBelow(setup, 30)) return;
      for (const { value } of patches(setup)) {
        const specifier = specifierOf(value);
        if (specifier)
          yield { at: specifier, what: `Istio ${setup.versions.istio?.join(".")} is given a matcher` };
      }
    },
  },
  {
    id: "istio-too-old",
    level: "error",
    harm: "the meter needs what its Envoy lacks",
    fix: "Istio 1.28 or later, or an Envoy of one's own: llm-breaker render --target kubernetes",
    *find(setup) {
      const [first] = patches(setup);
      if (first && isBelow(setup, 28))
        yield { at: first.object.at, what: `Istio ${setup.versions.istio?.join(".")}` };
    },
  },
  {
    id: "merge-loses-protocol",
    level: "error",
    harm: "Istio replaces the whole entry: an HTTP/2 backend is spoken to in HTTP/1, its own idle timeout is gone",
    fix: "restate explicit_http_config and common_http_protocol_options in the patch",
    *find(setup) {
      for (const { at, object, value, target } of patches(setup)) {
        if (target !== "CLUSTER" || at.at("patch", "operation")?.text !== "MERGE") continue;
        for (const options of value.get("typed_extension_protocol_options")?.fields.values() ?? []) {
          const protocol = ["explicit_http_config", "use_downstream_protocol_config", "auto_config"].some(
            (each) => options.get(each),
          );
          if (!protocol)
            yield {
              at: options,
              what: `a patch of ${object.name} merges protocol options without a protocol`,
            };
          else if (!options.get("common_http_protocol_options"))
            yield {
              at: options,
              what: `a patch of ${object.name} merges protocol options without common_http_protocol_options`,
            };
        }
      }
    },
  },
  {
    id: "merge-loses-destination-rule",
    level: "warning",
    harm: "the patch replaces what Istio made of it: the DestinationRule's setting has no effect",
    fix: "the same value in the patch's HttpProtocolOptions",
    *find(setup) {
      const lost = [
        ["idleTimeout", "idle_timeout"],
        ["maxRequestsPerConnection", "max_requests_per_connection"],
      ] as const;
      for (const { spec, name } of setup.objectsOf("DestinationRule")) {
        const http = spec.at("trafficPolicy", "connectionPool", "http");
        const cluster = setup.backends.find(
          (each) => each.isPart && sameHost(spec.at("host")?.text ?? "", each.name),
        );
        if (!http || !cluster?.options) continue;
        for (const [field, option] of lost) {
          const value = http.at(field);
          if (value && !cluster.options.get("common_http_protocol_options", option))
            yield { at: value, what: `${field} of DestinationRule ${name} is not in the patch` };
        }
        const upgrade = http.at("h2UpgradePolicy");
        if (
          upgrade?.text === "UPGRADE" &&
          !cluster.options.get("explicit_http_config", "http2_protocol_options")
        )
          yield { at: upgrade, what: `h2UpgradePolicy of DestinationRule ${name} is not in the patch` };
      }
    },
  },
  {
    id: "gate-behind-alpn",
    level: "error",
    harm: "istio.alpn reads the route's cluster once: with mTLS the chosen tier is spoken to in the first one's protocol",
    fix: "INSERT_BEFORE istio.alpn",
    *find(setup) {
      for (const patch of patches(setup)) {
        const anchor = anchorOf(patch);
        const operation = patch.at.at("patch", "operation")?.text;
        if (patch.target !== "HTTP_FILTER" || !["SIDECAR_OUTBOUND", "GATEWAY", "ANY"].includes(patch.context))
          continue;
        const isLate =
          /router$/.test(anchor?.text ?? "") ||
          (anchor?.text === "istio.alpn" && operation === "INSERT_AFTER");
        if (isLate)
          yield {
            at: anchor ?? patch.at,
            what: `${patch.value.textOf("name")} of ${patch.object.name} goes ${operation === "INSERT_AFTER" ? "behind" : "before"} ${anchor?.text}`,
          };
      }
    },
  },
  {
    id: "anchor-translated",
    level: "error",
    harm: "Istio names such filters anew with its versions: without its anchor a patch is silently not applied",
    fix: "istio.alpn or envoy.filters.http.router as the anchor",
    *find(setup) {
      for (const patch of patches(setup)) {
        const anchor = anchorOf(patch);
        if (anchor?.text && /extensions\.istio\.io|wasmplugin/i.test(anchor.text))
          yield { at: anchor, what: `a patch of ${patch.object.name} is anchored to ${anchor.text}` };
      }
    },
  },
  {
    id: "gate-behind-picker",
    level: "error",
    harm: "requests that are refused cost the pool's endpoint picker a slot",
    fix: `INSERT_BEFORE ${PICKER}`,
    *find(setup) {
      const hasPool =
        setup.objectsOf("InferencePool").length > 0 ||
        [...setup.objectsOf("HTTPRoute")].some(({ spec }) => poolRefs(spec).length > 0);
      for (const patch of patches(setup)) {
        const anchor = anchorOf(patch);
        if (
          hasPool &&
          patch.context === "GATEWAY" &&
          patch.target === "HTTP_FILTER" &&
          anchor &&
          anchor.text !== PICKER
        )
          yield {
            at: anchor,
            what: `${patch.value.textOf("name")} goes before ${anchor.text}, behind the pool's picker`,
          };
      }
      for (const { filters } of setup.connections) {
        const picker = filters.findIndex(({ role }) => role === "picker");
        const gate = filters.findIndex(({ role }) => role === "gate");
        const late = filters[gate];
        if (picker >= 0 && gate > picker && late)
          yield { at: late.at, what: `${late.name} stands behind ${filters[picker]?.name}` };
      }
    },
  },
  {
    id: "pool-in-flight",
    level: "error",
    harm: "a retry does not ask the pool's picker: it goes round robin over pods that may be full",
    fix: "the pool as the first tier, or a chain of its own with a route of its own",
    *find(setup) {
      for (const { chains, backends } of setup.policies) {
        for (const { tiers, at, maxAttempts, name } of chains.values()) {
          const pool = tiers
            .slice(1)
            .find((alias) => /\|54321\||-ip-[0-9a-f]{6,}\./.test(backends.get(alias)?.cluster ?? ""));
          if (pool && maxAttempts > 1)
            yield { at: at.at("tiers") ?? at, what: `chain ${name} falls back to ${pool}, an InferencePool` };
        }
      }
    },
  },
  {
    id: "empty-filter-config",
    level: "error",
    harm: "istiod refuses the EnvoyFilter",
    fix: 'is_optional: true, config: { "@type": type.googleapis.com/google.protobuf.Empty, value: {} }',
    *find(setup) {
      for (const { value } of patches(setup)) {
        for (const [name, config] of value.get("typed_per_filter_config")?.fields ?? []) {
          const inner = config.get("config");
          if (OURS.test(name) && config.type === "FilterConfig" && inner?.isMap && inner.fields.size === 0)
            yield { at: inner, what: `FilterConfig of ${name} is empty` };
        }
      }
    },
  },
  {
    id: "waypoint",
    level: "error",
    harm: "istiod applies nothing of it to a waypoint",
    fix: "a gateway, or an Envoy of one's own: llm-breaker render --target kubernetes",
    *find(setup) {
      const waypoints = setup
        .objectsOf("Gateway")
        .filter(({ spec }) => spec.at("gatewayClassName")?.text === "istio-waypoint")
        .map(({ name }) => name);
      for (const { object, at, context } of patches(setup)) {
        const target = [...object.spec.list("targetRefs")].find(
          (each) =>
            waypoints.includes(each.at("name")?.text ?? "") || each.at("kind")?.text === "GatewayClass",
        );
        if (context === "WAYPOINT" || target)
          yield { at: target ?? at, what: `${object.name} is for a waypoint` };
      }
    },
  },
];

function poolRefs(route: Located): readonly Located[] {
  return route
    .list("rules")
    .flatMap((rule) => rule.list("backendRefs").filter((each) => each.at("kind")?.text === "InferencePool"));
}
