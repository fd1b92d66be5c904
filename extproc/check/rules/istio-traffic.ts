import { isOurs, patches, specifierOf } from "./istio-patches.js";
import { backendHosts, patchedRoutes, virtualRoutes } from "./mesh-routes.js";
import type { Rule } from "./rule.js";

export const istioTrafficRules: readonly Rule[] = [
  {
    id: "istio-route-name",
    level: "error",
    harm: "the patch is silently not applied: requests pass without the breaker",
    fix: "the name of the VirtualService's http entry, which must have one (of an HTTPRoute: namespace.name.rule)",
    *find(setup) {
      const named = setup
        .objectsOf("VirtualService")
        .flatMap(({ spec }) => spec.list("http").map((entry) => entry.textOf("name")));
      if (named.length === 0 || setup.objectsOf("HTTPRoute").length > 0) return;
      for (const { name, at, value } of patchedRoutes(setup)) {
        const isKnown = named.some(
          (each) => each !== undefined && (name === each || name.startsWith(`${each}.`)),
        );
        if (value && isOurs(value) && !isKnown)
          yield { at, what: `no VirtualService here has an http entry called ${name}` };
      }
    },
  },
  {
    id: "mesh-retries",
    level: "warning",
    harm: "Istio retries, too (twice, if it says nothing): attempts multiply, and backends that are sick get more",
    fix: "retries: { attempts: 0 } in the VirtualService",
    *find(setup) {
      const replaced = patchedRoutes(setup)
        .filter(({ value }) => value?.get("route", "retry_policy"))
        .map(({ name }) => name);
      for (const { at, name, object } of virtualRoutes(setup)) {
        if (at.textOf("retries", "attempts") === "0" || (name !== undefined && replaced.includes(name)))
          continue;
        yield {
          at: at.get("retries") ?? at,
          what: `VirtualService ${object.name} retries ${at.textOf("retries", "attempts") ?? "as Istio does"}`,
        };
      }
    },
  },
  {
    id: "sidecar-egress",
    level: "error",
    harm: "the proxy has no cluster for it: that tier is answered 503",
    fix: "an egress host for it in the Sidecar",
    *find(setup) {
      const outbound = patches(setup).some(({ context }) => context === "SIDECAR_OUTBOUND");
      for (const { spec, name, namespace } of outbound ? setup.objectsOf("Sidecar") : []) {
        const allowed = spec
          .list("egress")
          .flatMap((each) => each.list("hosts").map(({ text }) => text ?? ""));
        for (const host of backendHosts(setup).filter((each) => each.includes("."))) {
          const isAllowed = allowed.some((each) => isReached(host, each, namespace));
          if (!isAllowed)
            yield { at: spec.at("egress") ?? spec, what: `Sidecar ${name} does not list ${host}` };
        }
      }
    },
  },
  {
    id: "referenced-services",
    level: "warning",
    harm: "a gateway that is only given clusters of its VirtualServices has none for the fallback",
    fix: 'annotation envoyfilter.istio.io/referenced-services: "namespace/host, …"',
    *find(setup) {
      const gateway = patches(setup).find(
        ({ context, value }) => context === "GATEWAY" && specifierOf(value),
      );
      if (
        gateway &&
        !gateway.object.at.at("metadata", "annotations", "envoyfilter.istio.io/referenced-services")
      )
        yield { at: gateway.object.at, what: `${gateway.object.name} names clusters in a matcher` };
    },
  },
  {
    id: "mixed-protocols",
    level: "warning",
    harm: "a retry keeps the first cluster's ALPN: with mTLS the other tier is spoken to in the wrong protocol",
    fix: "one protocol in a chain, or PILOT_ENABLE_ALPN_FILTER=false",
    *find(setup) {
      const inMesh = setup.backends.filter(
        ({ isPart, options }) => isPart && options?.get("explicit_http_config"),
      );
      const isHttp2 = (cluster: (typeof inMesh)[number]) =>
        cluster.options?.get("explicit_http_config", "http2_protocol_options") !== undefined;
      const [first] = inMesh;
      const odd = inMesh.find((each) => first && isHttp2(each) !== isHttp2(first));
      if (first && odd && setup.objectsOf("EnvoyFilter").length > 0)
        yield { at: odd.at, what: `${first.name} and ${odd.name} speak different protocols` };
    },
  },
];

/** `egress` is `namespace/host`, with `.` for the Sidecar's own and `*` for any. */
function isReached(host: string, egress: string, own: string): boolean {
  const [place = "", pattern = ""] = egress.split("/");
  const wanted = place === "." ? own : place;
  if (wanted !== "*" && host.endsWith(".svc.cluster.local") && host.split(".")[1] !== wanted) return false;
  return pattern === "*" || pattern === host || (pattern.startsWith("*.") && host.endsWith(pattern.slice(1)));
}
