import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chat, send } from "../support/client.js";
import type { RunningEnvoy } from "../support/envoy.js";
import { startUpstream, type Upstream } from "../support/upstream.js";
import { waitFor } from "../support/wait-for.js";
import { patchedProxy, startProxy } from "./istio-rig.js";

// What `render --target istio` writes, applied as istiod does, run by a real Envoy.
const POLICY = `
name: chat
backends:
  gpu: { url: "http://vllm-70b.llm.svc:8000" }
  small: { cluster: "vllm-8b.llm.svc.cluster.local:8000" }
  empty: { url: "http://vllm-empty:8000" }
breaker: { waitDurationInOpenState: 60s, probe: { body: { model: m, messages: [] } } }
chains:
  chat: { tiers: [gpu, empty, small], firstTokenTimeout: 1s, answerTimeout: 4s }
`;
const NAMES = ["vllm-70b", "vllm-8b", "vllm-empty"].map((name) => `${name}.llm.svc.cluster.local`);

let gpu: Upstream;
let small: Upstream;
let envoy: RunningEnvoy;
let applied: readonly boolean[];

before(async () => {
  [gpu, small] = await Promise.all([startUpstream(), startUpstream()]);
  const [host = "", smallHost = "", emptyHost = ""] = NAMES;
  const proxy = patchedProxy(
    POLICY,
    [
      { host, port: 8000, at: gpu.port },
      { host: smallHost, port: 8000, at: small.port },
      { host: emptyHost, port: 8000, at: undefined },
    ],
    "1.31.0",
  );
  applied = proxy.applied;
  envoy = await startProxy(proxy.config, [gpu.port, small.port]);
});

beforeEach(() => {
  for (const upstream of [gpu, small]) {
    upstream.mode = { kind: "ok" };
    upstream.reset();
  }
});

after(async () => {
  await envoy?.stop();
  await Promise.all([gpu?.stop(), small?.stop()]);
});

const url = (): string => envoy.url(10_000);

test("every patch finds what it changes", () => {
  assert.ok(applied.length >= 8 && applied.every(Boolean), JSON.stringify(applied));
});

test("a good answer is the first tier's", async () => {
  const answer = await chat(url());
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
  assert.equal(answer.headers["x-llm-breaker-retry"], undefined);
});

test("a route that is not ours meets none of our filters", async () => {
  const answer = await send(`${url()}/healthz`);
  assert.equal(answer.status, 204);
  assert.equal(await envoy.stat("wasmcustom.llm_breaker.gpu.permitted"), 1);
});

test("Envoy's own refusal is JSON on our routes", async () => {
  const answer = await send(`${url()}/v1/embeddings`, { body: Buffer.alloc(17_000_000, 32) });
  assert.equal(answer.status, 413);
  assert.equal(JSON.parse(answer.text).error.type, "gateway_error");
  assert.equal(answer.headers["retry-after"], "1");
});

test("a request in flight fails over past a Service without a ready pod", async () => {
  gpu.mode = { kind: "status", status: 500 };
  const answer = await chat(url(), { stream: true });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  assert.match(String(answer.headers["x-llm-breaker-tried"]), /gpu=500.*empty=connect/);
});

test("a Service without a ready pod opens, and is passed over from then on", async () => {
  gpu.mode = { kind: "status", status: 500 };
  const isOpen = async (alias: string): Promise<boolean> =>
    (await envoy.stat(`wasmcustom.llm_breaker.${alias}.state`)) === 1;
  await waitFor(
    async () => (await chat(url())) && (await isOpen("gpu")) && (await isOpen("empty")),
    10_000,
    "both Open",
  );
  gpu.reset();
  const answer = await chat(url());
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  assert.equal(answer.headers["x-llm-breaker-attempts"], "1");
  assert.equal(gpu.arrivals.length, 0);
});
