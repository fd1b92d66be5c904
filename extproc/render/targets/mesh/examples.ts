import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../../../root.js";
import { readPolicy } from "../../policy-file.js";
import type { Target, TargetValues } from "../../target.js";
import { envoyGatewayTarget } from "../envoy-gateway/target.js";
import { istioTarget } from "../istio/target.js";
import { kubernetesTarget } from "../kubernetes/target.js";

/** The policy of all examples, in the repository. */
const EXAMPLE_POLICY = "envoy/kubernetes/policy.yaml";

const EXAMPLES: Readonly<Record<string, readonly [Target, TargetValues]>> = {
  "envoy/kubernetes/sidecar.yaml": [kubernetesTarget, {}],
  "envoy/kubernetes/shared.yaml": [kubernetesTarget, { service: "shared" }],
  "envoy/istio/gateway.yaml": [istioTarget, {}],
  "envoy/istio/sidecar.yaml": [istioTarget, { context: "sidecar", selector: "app=chat", port: "8000" }],
  "envoy/istio/tier-routes.yaml": [istioTarget, { "istio-version": "1.28" }],
  "envoy/envoy-gateway/gateway.yaml": [envoyGatewayTarget, {}],
};

/** Where each example is, and what it is to hold. */
export function meshFiles(): readonly { readonly path: string; update(present: string): string }[] {
  const plan = readPolicy(readFileSync(join(findRepoRoot(), EXAMPLE_POLICY), "utf8"), EXAMPLE_POLICY);
  return Object.entries(EXAMPLES).map(([path, [target, values]]) => {
    return { path, update: () => target.write(plan, values).text };
  });
}
