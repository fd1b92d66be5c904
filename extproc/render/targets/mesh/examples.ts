import { readPolicy } from "../../policy-file.js";
import type { Target, TargetValues } from "../../target.js";
import { envoyGatewayTarget } from "../envoy-gateway/target.js";
import { istioTarget } from "../istio/target.js";
import { kubernetesTarget } from "../kubernetes/target.js";

/** The policy of all examples, in the repository. */
export const EXAMPLE_POLICY = "envoy/kubernetes/policy.yaml";

const EXAMPLES: Readonly<Record<string, readonly [Target, TargetValues]>> = {
  "envoy/kubernetes/sidecar.yaml": [kubernetesTarget, {}],
  "envoy/kubernetes/shared.yaml": [kubernetesTarget, { service: "shared" }],
  "envoy/istio/gateway.yaml": [istioTarget, {}],
  "envoy/istio/sidecar.yaml": [istioTarget, { context: "sidecar", selector: "app=chat", port: "8000" }],
  "envoy/istio/tier-routes.yaml": [istioTarget, { "istio-version": "1.28" }],
  "envoy/envoy-gateway/gateway.yaml": [envoyGatewayTarget, {}],
};

/** File to what it is to hold. */
export function meshExamples(policy: string): ReadonlyMap<string, string> {
  const plan = readPolicy(policy, EXAMPLE_POLICY);
  const files = Object.entries(EXAMPLES).map(([file, [target, values]]): [string, string] => {
    return [file, target.write(plan, values).text];
  });
  return new Map(files);
}
