import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Answer, chat } from "../support/client.js";
import { neverOpen, type Rig, type RigSettings, startRig } from "./support/rig.js";
import {
  chainOf,
  clusterOf,
  nameChainsByRoute,
  routeOf,
  type ShippedConfig,
} from "./support/shipped-config.js";

let rig: Rig | undefined;

after(() => rig?.stop());

async function withRig(settings: RigSettings, body: (rig: Rig) => Promise<void>): Promise<void> {
  rig = await startRig({ service: false, ...settings });
  try {
    await body(rig);
  } finally {
    await rig.stop();
    rig = undefined;
  }
}

function assertJsonError(answer: Answer): void {
  assert.ok(answer.status >= 500, `${answer.status} ${answer.text}`);
  assert.equal(answer.headers["content-type"], "application/json");
  assert.ok(Number(answer.headers["retry-after"]) >= 1);
  assert.equal(typeof JSON.parse(answer.text).error.message, "string");
}

function withoutHosts(config: ShippedConfig, name: string): void {
  const [real] = clusterOf(config, name).load_assignment.endpoints;
  if (real) real.lb_endpoints = [];
}

const nowhere = { endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: 2 } } } };

test("a first tier without a host is a failure of it, and the second tier answers", async () => {
  const settings: RigSettings = { policy: neverOpen, patch: (config) => withoutHosts(config, "gpu") };
  await withRig(settings, async ({ url, envoy, small }) => {
    for (const stream of [false, true]) {
      const answer = await chat(url, { stream });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers["x-llm-breaker-backend"], "small");
    }
    assert.equal(small.arrivals.length, 2);
    assert.ok((await envoy.stat("wasmcustom.llm_breaker.gpu.outcome.failure")) >= 2);
  });
});

test("an unreachable first tier and a second without a host leave the answer to the third", async () => {
  const patch = (config: ShippedConfig): void => {
    withoutHosts(config, "small");
    const [real] = clusterOf(config, "gpu").load_assignment.endpoints;
    if (real) real.lb_endpoints = [nowhere];
  };
  await withRig({ policy: neverOpen, patch }, async ({ url, public_ }) => {
    const answer = await chat(url, { stream: true });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers["x-llm-breaker-backend"], "public");
    assert.equal(public_.arrivals.length, 1);
  });
});

test("with no host anywhere the caller gets JSON", async () => {
  const patch = (config: ShippedConfig): void => {
    for (const name of ["gpu", "small", "public"]) withoutHosts(config, name);
  };
  await withRig({ policy: neverOpen, patch }, async ({ url }) => {
    for (let call = 0; call < 4; call++) assertJsonError(await chat(url, { stream: call % 2 === 0 }));
  });
});

test("a backend that the route's map does not know gets JSON or the next tier, never another backend's request", async () => {
  const policy: RigSettings["policy"] = (json) => {
    neverOpen(json);
    json.backends.stranger = { cluster: "gpu" };
    chainOf(json).tiers = ["stranger", "small"];
  };
  await withRig({ policy }, async ({ url, gpu, public_ }) => {
    const answer = await chat(url);
    if (answer.status === 200) assert.equal(answer.headers["x-llm-breaker-backend"], "small");
    else assertJsonError(answer);
    assert.equal(gpu.arrivals.length, 0);
    assert.equal(public_.arrivals.length, 0);
  });
});

test("a tier that the map does not know is JSON too when it is reached by a retry", async () => {
  const policy: RigSettings["policy"] = (json) => {
    neverOpen(json);
    json.backends.stranger = { cluster: "small" };
    chainOf(json).tiers = ["gpu", "stranger"];
  };
  await withRig({ policy }, async (rig) => {
    rig.gpu.mode = { kind: "status", status: 500 };
    const answer = await chat(rig.url);
    // The first tier's own words are the best there is.
    assert.equal(answer.status, 500);
    assert.equal(JSON.parse(answer.text).error.message, "status 500");
    assert.equal(answer.headers["x-llm-breaker-tried"], "gpu=500, gpu=500");
    assert.deepEqual(rig.hits, [2, 0, 0]);
  });
});

test("a route that names an unknown chain gets JSON that says so", async () => {
  const patch = (config: ShippedConfig): void => {
    nameChainsByRoute(config);
    routeOf(config).metadata = { filter_metadata: { "llm.breaker": { chain: "nobody" } } };
  };
  await withRig({ patch }, async (rig) => {
    const answer = await chat(rig.url);
    assert.equal(answer.status, 503);
    assert.equal(answer.headers["content-type"], "application/json");
    assert.equal(answer.headers["x-llm-breaker-reason"], "unknown_chain");
    assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_unknown_chain");
    assert.deepEqual(rig.hits, [0, 0, 0]);
  });
});
