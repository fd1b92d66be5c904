import type { Rule } from "./rule.js";

const OURS = /llm.?breaker/i;

export const gatewayRules: readonly Rule[] = [
  {
    id: "gateway-wasm-policy",
    level: "error",
    harm: "Envoy Gateway gives each entry a VM and shared data of its own: gate and meter never meet, and the meter has no place there",
    fix: "EnvoyPatchPolicy: llm-breaker render --target envoy-gateway",
    *find(setup) {
      for (const { spec, name } of setup.objectsOf("EnvoyExtensionPolicy")) {
        for (const wasm of spec.list("wasm")) {
          const isOurs =
            OURS.test(
              JSON.stringify([
                wasm.at("name")?.text,
                wasm.at("rootID")?.text,
                wasm.at("code", "image", "url")?.text,
                wasm.at("code", "http", "url")?.text,
              ]),
            ) || wasm.at("config", "chains") !== undefined;
          if (isOurs) yield { at: wasm, what: `EnvoyExtensionPolicy ${name} brings the filter` };
        }
      }
    },
  },
  {
    id: "gateway-folded-tiers",
    level: "error",
    harm: "all backendRefs of a rule become one cluster: its tiers can't be told apart",
    fix: "a rule for each tier, the later ones matching what no caller can send",
    *find(setup) {
      if (setup.objectsOf("EnvoyPatchPolicy").length === 0 || !setup.usesBreaker) return;
      for (const { spec, name, namespace } of setup.objectsOf("HTTPRoute")) {
        for (const [index, rule] of spec.list("rules").entries()) {
          const isTier = setup.backends.some(
            (each) => each.name === `httproute/${namespace}/${name}/rule/${index}`,
          );
          if (isTier && rule.list("backendRefs").length > 1)
            yield {
              at: rule.at("backendRefs") ?? rule,
              what: `a rule of HTTPRoute ${name} has ${rule.list("backendRefs").length} backendRefs`,
            };
        }
      }
    },
  },
  {
    id: "gateway-cluster-type",
    level: "error",
    harm: "Envoy Gateway 1.9 has cluster_type for DNS: a patch of `type` breaks the cluster",
    fix: "patches of metadata and typed_extension_protocol_options only",
    *find(setup) {
      if (!setup.usesBreaker) return;
      for (const { spec, name } of setup.objectsOf("EnvoyPatchPolicy")) {
        for (const patch of spec.list("jsonPatches")) {
          const path = patch.at("operation", "path");
          if (/\.Cluster$/.test(patch.at("type")?.text ?? "") && path?.text === "/type")
            yield { at: path, what: `EnvoyPatchPolicy ${name} patches a cluster's type` };
        }
      }
    },
  },
];
