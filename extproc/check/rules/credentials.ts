import { type Cluster, endpointsOf } from "../setup/envoy.js";
import type { Rule } from "./rule.js";

export const credentialRules: readonly Rule[] = [
  {
    id: "credential-overwrite",
    level: "error",
    harm: "an earlier tier's key, or the caller's, goes to this one",
    fix: "overwrite: true on the credential_injector",
    *find(setup) {
      const hasTiers = setup.chains.length === 0 || setup.chains.some(({ tiers }) => tiers.length > 1);
      for (const { filters, metadata, name } of setup.backends) {
        const injector = filters.find(({ role }) => role === "credentials");
        if (!injector || injector.config.isTrue("overwrite") || !(hasTiers || metadata.has("credentials")))
          continue;
        yield { at: injector.config, what: `the credential_injector of cluster ${name} does not overwrite` };
      }
    },
  },
  {
    id: "credentials-own",
    level: "error",
    harm: "its key stays on the request, and goes to the next tier; the caller's cookies and keys in other headers go to it",
    fix: "credentials: own in the cluster's metadata",
    *find(setup) {
      for (const { filters, metadata, name } of setup.backends) {
        const injector = filters.find(({ role }) => role === "credentials");
        if (injector?.config.isTrue("overwrite") && !metadata.has("credentials"))
          yield { at: injector.at, what: `cluster ${name} adds a key and does not say so` };
      }
    },
  },
  {
    id: "credentials-without-key",
    level: "warning",
    harm: "the caller's key is taken away and none put in its place: 401",
    fix: "a credential_injector with overwrite: true on the cluster",
    *find(setup) {
      for (const { filters, metadata, name, isPart, options } of setup.backends) {
        const own = metadata.get("credentials");
        if (own?.text !== "own" || (isPart && !options)) continue;
        if (
          !filters.some(
            ({ role, name: filter }) =>
              role === "credentials" || /inject|credential|header_mutation|lua|signing/.test(filter),
          )
        )
          yield { at: own, what: `cluster ${name} has credentials: own and no credential_injector` };
      }
    },
  },
  {
    id: "host-not-rewritten",
    level: "error",
    harm: "a public API gets the caller's host name, and answers 404 or 421",
    fix: "host: api.example.com in the cluster's metadata",
    *find(setup) {
      const rewritten = setup.routes.some(
        ({ action }) => action.isTrue("auto_host_rewrite") || action.get("host_rewrite_literal"),
      );
      for (const cluster of setup.backends) {
        const sni = tlsOf(cluster)?.get("sni");
        if (sni && !cluster.metadata.has("host") && !rewritten)
          yield { at: sni, what: `cluster ${cluster.name} goes to ${sni.text} and does not set the host` };
      }
    },
  },
  {
    id: "tls-missing",
    level: "error",
    harm: "plain HTTP to port 443: every attempt is reset or a 400, and a key goes over the wire readable",
    fix: "transport_socket with UpstreamTlsContext, sni and trusted_ca",
    *find(setup) {
      for (const cluster of setup.backends) {
        const socket = cluster.at.get("transport_socket") ?? cluster.at.get("transport_socket_matches");
        const tls = endpointsOf(cluster).find(
          ({ at }) => at.numberOf("endpoint", "address", "socket_address", "port_value") === 443,
        );
        if (tls && !socket && !cluster.isPart)
          yield { at: tls.at, what: `cluster ${cluster.name} has no TLS` };
      }
    },
  },
  {
    id: "tls-unverified",
    level: "warning",
    harm: "whoever answers in its place gets prompts and key",
    fix: "validation_context: { trusted_ca: { filename: /etc/ssl/certs/ca-certificates.crt }, match_typed_subject_alt_names: … }",
    *find(setup) {
      for (const cluster of setup.backends) {
        const tls = tlsOf(cluster);
        const common = tls?.get("common_tls_context");
        const isChecked = [
          "validation_context",
          "combined_validation_context",
          "validation_context_sds_secret_config",
        ].some((each) => common?.get(each));
        if (tls && !isChecked) yield { at: tls, what: `cluster ${cluster.name} takes any certificate` };
      }
    },
  },
];

function tlsOf({ at }: Cluster) {
  const config = at.get("transport_socket", "typed_config");
  return config?.type === "UpstreamTlsContext" ? config : undefined;
}
