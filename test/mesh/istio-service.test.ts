import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chat } from "../support/client.js";
import type { RunningEnvoy } from "../support/envoy.js";
import { freePort } from "../support/ports.js";
import { type RunningService, startService } from "../support/service.js";
import { startUpstream, type Upstream } from "../support/upstream.js";
import { waitFor } from "../support/wait-for.js";
import { patchedProxy, startProxy } from "./istio-rig.js";

// The service as Istio has it: two ports of one host, by Istio's own names of their clusters.
const POLICY = `
name: chat
backends:
  gpu: { url: "http://vllm-70b:8000" }
  small: { url: "http://vllm-8b:8000", model: qwen3-4b }
breaker: { waitDurationInOpenState: 60s, probe: { body: { model: m, messages: [] } } }
chains: { chat: { tiers: [gpu, small], answerTimeout: 4s } }
`;
const HOST = "llm-breaker.llm.svc.cluster.local";

let gpu: Upstream;
let small: Upstream;
let service: RunningService;
let envoy: RunningEnvoy;

before(async () => {
  const [grpcPort, httpPort] = [await freePort(), await freePort()];
  const listen = { grpc: `127.0.0.1:${grpcPort}`, http: `127.0.0.1:${httpPort}`, admin: "off" };
  [gpu, small, service] = await Promise.all([
    startUpstream(),
    startUpstream(),
    startService({ config: { listen, log: { level: "warn" } }, httpPort }),
  ]);
  const { config, applied } = patchedProxy(
    POLICY,
    [
      { host: "vllm-70b.llm.svc.cluster.local", port: 8000, at: gpu.port },
      { host: "vllm-8b.llm.svc.cluster.local", port: 8000, at: small.port },
      { host: HOST, port: 9002, at: grpcPort },
      { host: HOST, port: 9003, at: httpPort },
    ],
    "1.31.0",
  );
  assert.ok(applied.every(Boolean), JSON.stringify(applied));
  envoy = await startProxy(config, [gpu.port, small.port, grpcPort, httpPort]);
});

after(async () => {
  await envoy?.stop();
  await service?.stop();
  await Promise.all([gpu?.stop(), small?.stop()]);
});

test("a fallback's body is rewritten by the service, once that is known to be there", async () => {
  gpu.mode = { kind: "status", status: 500 };
  const rewritten = async (): Promise<boolean> => {
    const answer = await chat(envoy.url(10_000));
    return answer.headers["x-llm-breaker-backend"] === "small";
  };
  await waitFor(rewritten, 5_000, "an answer of small");
  assert.equal(JSON.parse(small.arrivals.at(-1)?.body.toString() ?? "").model, "qwen3-4b");
});
