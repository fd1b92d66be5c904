import assert from "node:assert/strict";
import { after, test } from "node:test";
import { chat } from "../support/client.js";
import { startUpstream } from "../support/upstream.js";
import { patchedProxy, startProxy } from "./istio-rig.js";

// Istio before 1.30 has no matcher, before 1.31 no failover in flight: a route for each tier, on the Envoys that it has.
const POLICY = `
name: chat
backends:
  gpu: { url: "http://vllm-70b:8000" }
  small: { url: "http://vllm-8b:8000" }
breaker:
  waitDurationInOpenState: 60s
  consecutiveFailuresThreshold: 3
  probe: { body: { model: m, messages: [] } }
chains:
  chat: { tiers: [gpu, small], answerTimeout: 4s }
`;
const VERSIONS = [
  ["1.28.0", "1.36.4"],
  ["1.29.0", "1.37.0"],
] as const;

const given = process.env.ENVOY_VERSION;
after(() => {
  if (given === undefined) delete process.env.ENVOY_VERSION;
  else process.env.ENVOY_VERSION = given;
});

for (const [istio, version] of VERSIONS) {
  test(`Istio ${istio}, Envoy ${version}: tiers change at admission`, async () => {
    process.env.ENVOY_VERSION = version;
    const [gpu, small] = await Promise.all([startUpstream(), startUpstream()]);
    const { config, applied } = patchedProxy(
      POLICY,
      [
        { host: "vllm-70b.llm.svc.cluster.local", port: 8000, at: gpu.port },
        { host: "vllm-8b.llm.svc.cluster.local", port: 8000, at: small.port },
      ],
      istio,
    );
    assert.ok(applied.every(Boolean), JSON.stringify(applied));
    const envoy = await startProxy(config, [gpu.port, small.port]);
    try {
      const url = envoy.url(10_000);
      const good = await chat(url);
      assert.equal(good.headers["x-llm-breaker-backend"], "gpu");

      gpu.mode = { kind: "status", status: 500 };
      const bad = await chat(url);
      assert.equal(bad.status, 500);
      assert.equal(small.arrivals.length, 0);
      await chat(url);
      await chat(url);

      for (const upstream of [gpu, small]) upstream.reset();
      const passedOver = await chat(url);
      assert.equal(passedOver.status, 200, passedOver.text);
      assert.equal(passedOver.headers["x-llm-breaker-backend"], "small");
      assert.deepEqual([gpu.arrivals.length, small.arrivals.length], [0, 1]);
    } finally {
      await envoy.stop();
      await Promise.all([gpu.stop(), small.stop()]);
    }
  });
}
