import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { TargetValues } from "../../extproc/render/target.js";
import { envoyGatewayTarget } from "../../extproc/render/targets/envoy-gateway/target.js";
import { chat } from "../support/client.js";
import { startEnvoy } from "../support/envoy.js";
import type { EnvoyConfig } from "../support/envoy-config.js";
import { findRepoRoot } from "../support/repo-root.js";
import { startUpstream } from "../support/upstream.js";
import { gatewayProxy } from "./gateway-proxy.js";
import type { JsonPatch } from "./json-patches.js";
import { POLICIES } from "./policies.js";
import { only, rendered } from "./rendered.js";
import { envoyFaults } from "./validated.js";

interface PatchPolicy {
  readonly spec: { readonly jsonPatches: readonly JsonPatch[] };
}

function patched(
  policy: string,
  ports: readonly (number | undefined)[],
  values: TargetValues = {},
): EnvoyConfig {
  const { objects } = rendered(envoyGatewayTarget, policy, {
    wasm: join(findRepoRoot(), "build"),
    ...values,
  });
  const route = only<{ metadata: { name: string }; spec: { rules: unknown[] } }>(objects, "HTTPRoute");
  assert.equal(route.spec.rules.length, ports.length);
  const { jsonPatches } = only<PatchPolicy>(objects, "EnvoyPatchPolicy").spec;
  const { config, faults } = gatewayProxy(route.metadata.name, ports, jsonPatches);
  assert.deepEqual(faults, []);
  return config;
}

test("what a policy asks for loads", async () => {
  const everything = POLICIES["everything the service does"] ?? "";
  assert.equal(await envoyFaults(patched(everything, [9101, 9102]), "1.39.3"), "");
  const older = patched(everything, [9101, 9102], { "gateway-version": "1.7" });
  assert.equal(await envoyFaults(older, "1.37.0"), "");
});

test("our filters stand before the router, in their order", () => {
  const text = JSON.stringify(patched(POLICIES["everything the service does"] ?? "", [9101, 9102]));
  const at = ["cors", "gate", "count", "admit", "remember", "router"].map((name) =>
    text.search(new RegExp(`"name":"[\\w.]*\\.${name}","(typed_config|disabled)`)),
  );
  assert.ok(!at.includes(-1), at.join());
  assert.deepEqual(
    at.toSorted((one, other) => one - other),
    at,
  );
});

test("a request fails over in flight, past a Service without a pod, and no caller chooses a tier", async () => {
  const [gpu, small] = await Promise.all([startUpstream(), startUpstream()]);
  const policy = `
name: chat
backends:
  gpu: { url: "http://vllm-70b:8000" }
  empty: { url: "http://vllm-empty:8000" }
  small: { url: "http://127.0.0.1:${small.port}" }
chains: { chat: { tiers: [gpu, empty, small], answerTimeout: 4s } }
`;
  const envoy = await startEnvoy({
    config: patched(policy, [gpu.port, undefined]),
    ports: { [gpu.port]: gpu.port, [small.port]: small.port },
  });
  try {
    const url = envoy.url(10_080);
    const chosen = await chat(url, { headers: { "x-llm-breaker-tier": "any" } });
    assert.equal(chosen.headers["x-llm-breaker-backend"], "gpu");
    gpu.mode = { kind: "status", status: 500 };
    const answer = await chat(url);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
    assert.match(String(answer.headers["x-llm-breaker-tried"]), /gpu=500.*empty=connect/);
  } finally {
    await envoy.stop();
    await Promise.all([gpu.stop(), small.stop()]);
  }
});

test("what can't be written is refused with a remedy", () => {
  const write = (policy: string) => rendered(envoyGatewayTarget, policy);
  assert.throws(() => write(POLICIES["keys, prefixes and a fixed route"] ?? ""), /choose by `models`/);
  const external =
    'name: a\nbackends: { x: { url: "https://api.example.com" } }\nchains: { chat: { tiers: [x] } }\n';
  assert.throws(() => write(external), /--target kubernetes/);
  const inside = external.replace("https://api.example.com", "https://vllm.llm.svc:8443");
  assert.throws(() => write(inside), /give cluster: "vllm\.llm\.svc\.cluster\.local:8443"/);
});
