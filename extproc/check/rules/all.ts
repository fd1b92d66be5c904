import { backendRules } from "./backends.js";
import { bufferRules } from "./buffers.js";
import { clusterRules } from "./clusters.js";
import { credentialRules } from "./credentials.js";
import { fileRules } from "./files.js";
import { filterRules } from "./filters.js";
import { gatewayRules } from "./gateway.js";
import { istioRules } from "./istio.js";
import { istioTrafficRules } from "./istio-traffic.js";
import { operationRules } from "./operations.js";
import { policyRules } from "./policy.js";
import { retryRules } from "./retries.js";
import type { Rule } from "./rule.js";
import { serviceRules } from "./service.js";
import { serviceClusterRules } from "./service-cluster.js";
import { tierRules } from "./tiers.js";
import { timeoutRules } from "./timeouts.js";
import { wasmPluginRules } from "./wasm-plugin.js";

export interface RuleGroup {
  readonly title: string;
  readonly rules: readonly Rule[];
}

/** In the order in which docs/check.md tells them. */
export const RULE_GROUPS: readonly RuleGroup[] = [
  { title: "Files", rules: fileRules },
  { title: "Policy", rules: policyRules },
  { title: "Timeouts", rules: timeoutRules },
  { title: "Retries", rules: retryRules },
  { title: "Routes and tiers", rules: tierRules },
  { title: "Buffers", rules: bufferRules },
  { title: "Filters", rules: filterRules },
  { title: "Clusters", rules: clusterRules },
  { title: "Backends", rules: backendRules },
  { title: "Credentials", rules: credentialRules },
  { title: "The service", rules: [...serviceRules, ...serviceClusterRules] },
  { title: "Operation", rules: operationRules },
  { title: "Istio", rules: [...istioRules, ...istioTrafficRules, ...wasmPluginRules] },
  { title: "Envoy Gateway", rules: gatewayRules },
];

export const RULES: readonly Rule[] = RULE_GROUPS.flatMap(({ rules }) => rules);
