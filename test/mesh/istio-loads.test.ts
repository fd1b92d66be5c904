import assert from "node:assert/strict";
import { test } from "node:test";
import { readPolicy } from "../../extproc/render/policy-file.js";
import type { TargetValues } from "../../extproc/render/target.js";
import { istioSettings, proxyVersion } from "../../extproc/render/targets/istio/settings.js";
import { tiersOf } from "../../extproc/render/targets/istio/tiers.js";
import type { IstioHost } from "./istio-proxy.js";
import { patchedProxy } from "./istio-rig.js";
import { POLICIES } from "./policies.js";
import { envoyFaults } from "./validated.js";

// Whatever a policy asks for: each patch finds its place in what Istio makes, and an Envoy of that version takes the result.
const everything = "everything the service does";
const pool = { "inference-pool": ["gpu=vllm-pool"] };
const CASES: readonly (readonly [policy: string, istio: string, envoy: string, values: TargetValues])[] = [
  ["one backend", "1.31.0", "1.40.0", {}],
  [everything, "1.31.0", "1.40.0", {}],
  [everything, "1.31.0", "1.39.3", pool],
  ["keys, prefixes and a fixed route", "1.31.0", "1.40.0", {}],
  [everything, "1.30.0", "1.37.0", {}],
  [everything, "1.28.0", "1.36.4", {}],
];

for (const [name, istio, envoy, values] of CASES) {
  test(`${name}: Istio ${istio}, Envoy ${envoy}, ${JSON.stringify(values)}`, async () => {
    const policy = POLICIES[name] ?? "";
    const { config, applied } = patchedProxy(policy, hostsOf(policy, values), istio, values);
    assert.ok(applied.every(Boolean), JSON.stringify(applied));
    assert.equal(await envoyFaults(config, envoy), "");
  });
}

function hostsOf(text: string, values: TargetValues): [IstioHost, ...IstioHost[]] {
  const plan = readPolicy(text, "policy.yaml");
  const settings = istioSettings(plan, values);
  const tiers = tiersOf(plan, settings).map(({ host, port }) => ({ host, port, at: 9101 }));
  const service = [9002, 9003].map((port) => ({ host: settings.serviceHost, port, at: port }));
  const [first, ...others] = [...tiers, ...(plan.service ? service : [])];
  if (first === undefined) throw new Error("no tier");
  return [first, ...others.filter(({ host, port }) => host !== first.host || port !== first.port)];
}

test("a pool behind another tier is refused where a retry could come to it", () => {
  const policy = POLICIES[everything] ?? "";
  const asked = { "inference-pool": ["small=vllm-pool"] };
  const write = (values: TargetValues) =>
    patchedProxy(policy, hostsOf(policy, { ...values, "tier-routes": true }), "1.31.0", values);
  assert.throws(() => write(asked), /small is an InferencePool behind another tier/);
  assert.ok(write({ ...asked, "tier-routes": true }).applied.every(Boolean));
});

test("a proxy older than what was rendered for gets none of the patches", () => {
  const policy = POLICIES["one backend"] ?? "";
  const guarded = new RegExp(proxyVersion(istioSettings(readPolicy(policy, "policy.yaml"), {})));
  assert.deepEqual(
    ["1.28.1", "1.30.4", "1.31.0", "1.32.0-beta.1", "1.40.2"].map((version) => guarded.test(version)),
    [false, false, true, true, true],
  );
});
