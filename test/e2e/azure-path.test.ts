import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chat, send } from "../support/client.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { addBackend, chainOf, clusterOf, type ShippedConfig } from "./support/shipped-config.js";

let rig: Rig;

const deployment = "/openai/deployments/gpt-4o-mini";

// gpu → azure (its own key) → plain (the caller's): each at gpu's, small's and public's server.
before(async () => {
  rig = await startRig({
    service: false,
    policy: (policy) => {
      neverOpen(policy);
      Object.assign(policy.backends, { azure: {}, plain: {} });
      Object.assign(chainOf(policy), { tiers: ["gpu", "azure", "plain"], sameTierRetries: 0 });
    },
    patch: (config) => {
      addBackend(config, "azure", "gpu", 9102);
      addBackend(config, "plain", "gpu", 9103);
      describeCluster(config, "azure", {
        credentials: "own",
        host: "name.openai.azure.com",
        pathPrefix: deployment,
        query: "api-version=2024-10-21",
      });
      describeCluster(config, "plain", { pathPrefix: "/openai/v1" });
    },
  });
});

beforeEach(() => {
  rig.reset();
  rig.gpu.mode = { kind: "status", status: 500 };
});

after(() => rig.stop());

function describeCluster(config: ShippedConfig, name: string, keys: Record<string, string>): void {
  Object.assign(clusterOf(config, name).metadata.filter_metadata["llm.breaker"], keys);
}

const paths = () => [rig.gpu, rig.small, rig.public_].map(({ arrivals }) => arrivals.at(-1)?.path);

test("a deployment is asked at its own path and version, and its host", async () => {
  const answer = await chat(rig.url);
  assert.equal(answer.headers["x-llm-breaker-backend"], "azure");
  assert.equal(rig.small.arrivals[0]?.path, `${deployment}/chat/completions?api-version=2024-10-21`);
  assert.equal(rig.small.arrivals[0]?.headers.host, "name.openai.azure.com");
});

test("the caller's query reaches only who gets his keys too, and the next tier starts from his own path", async () => {
  rig.small.mode = { kind: "status", status: 500 };
  const answer = await send(`${rig.url}/v1/embeddings?key=CALLERS&dimensions=3`, { body: "{}" });
  assert.equal(answer.headers["x-llm-breaker-backend"], "plain");
  assert.deepEqual(paths(), [
    "/v1/embeddings?key=CALLERS&dimensions=3",
    `${deployment}/embeddings?api-version=2024-10-21`,
    "/openai/v1/embeddings?key=CALLERS&dimensions=3",
  ]);
});

test("a path that does not begin with the version keeps its shape", async () => {
  rig.small.mode = { kind: "reset" };
  await send(`${rig.url}/v1beta/models?key=CALLERS`, { body: "{}" });
  assert.deepEqual(paths(), [
    "/v1beta/models?key=CALLERS",
    "/v1beta/models?api-version=2024-10-21",
    "/v1beta/models?key=CALLERS",
  ]);
});

test("a path of 16 kB is put together too", async () => {
  const end = `/${"a".repeat(8_000)}?key=${"b".repeat(8_000)}`;
  await send(`${rig.url}/v1${end}`, { body: "{}" });
  assert.equal(rig.small.arrivals[0]?.path, `${deployment}/${"a".repeat(8_000)}?api-version=2024-10-21`);
});
