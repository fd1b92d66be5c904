import assert from "node:assert/strict";
import { test } from "node:test";
import type { Target, TargetValues } from "../../extproc/render/target.js";
import { envoyGatewayTarget } from "../../extproc/render/targets/envoy-gateway/target.js";
import { istioTarget } from "../../extproc/render/targets/istio/target.js";
import { kubernetesTarget } from "../../extproc/render/targets/kubernetes/target.js";
import { POLICIES } from "./policies.js";
import { rendered } from "./rendered.js";
import { schemaFaults } from "./schemas.js";

const ASKED: readonly (readonly [Target, TargetValues])[] = [
  [istioTarget, {}],
  [istioTarget, { "istio-version": "1.30", context: "sidecar", selector: "app=chat,tier=web", port: "8000" }],
  [istioTarget, { "istio-version": "1.28", gateway: "llm-gateway", route: "llm.chat.0" }],
  [istioTarget, { "inference-pool": ["gpu=vllm-pool"] }],
  [envoyGatewayTarget, { gateway: "models/edge", listener: "https", hostname: "llm.example.com" }],
  [kubernetesTarget, {}],
  [kubernetesTarget, { service: "shared", replicas: "3", namespace: "models" }],
  [kubernetesTarget, { service: "only" }],
];

for (const [target, values] of ASKED) {
  test(`--target ${target.name} ${JSON.stringify(values)}: every object is one by its kind's schema`, () => {
    for (const [name, policy] of Object.entries(POLICIES)) {
      if (target === envoyGatewayTarget && name.includes("prefixes")) continue;
      const { objects } = rendered(target, policy, values);
      assert.deepEqual(objects.flatMap(schemaFaults), []);
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);
      assert.equal(new Set(names).size, names.length, names.join(", "));
    }
  });
}

test("a field that a kind does not have is found, at any depth", () => {
  const { objects } = rendered(istioTarget, POLICIES["one backend"] ?? "");
  const [filter] = structuredClone(objects) as unknown as [
    { spec: { configPatches: Record<string, unknown>[] } },
  ];
  Object.assign(filter.spec.configPatches[0]?.match ?? {}, { contxt: "GATEWAY" });
  assert.equal(schemaFaults(filter as never).length, 1);
});
