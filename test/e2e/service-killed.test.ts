import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { OPEN, type Rig, startRig, staysOpen } from "./support/rig.js";
import { clusterOf, protocolOf } from "./support/shipped-config.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    policy: ({ breaker, backends }) => {
      Object.assign(breaker, staysOpen);
      // A last tier that needs no rewrite goes on without the service.
      backends.public = { ...backends.public, rewritesBody: false };
    },
    patch: (config) => {
      const options = protocolOf(clusterOf(config, "public"));
      options.http_filters = options.http_filters.filter(({ name }) => !/rewrite|guard/.test(name));
    },
  });
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  assert.equal(await rig.state(), OPEN);
  rig.reset();
});

after(() => rig.stop());

test("Open: with the service killed callers are served at once by a tier that can do without it", async () => {
  rig.service?.signal("SIGKILL");
  await waitFor(() => rig.service?.exit, 5_000, "the service's end");
  for (let call = 0; call < 5; call++) assert.equal((await chat(rig.url)).status, 200);
  await sleep(4_000);
  rig.reset();
  for (let call = 0; call < 10; call++) {
    const answer = await chat(rig.url, { stream: call % 2 === 0 });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["x-llm-breaker-backend"], "public");
    assert.ok(answer.totalMs < 1_000, `answered after ${answer.totalMs} ms`);
  }
  assert.deepEqual(rig.hits, [0, 0, 10]);
});

test("Open: without the service the last tier still gets its own key, and nothing of the caller's", async () => {
  rig.reset();
  await chat(rig.url, { headers: { authorization: "Bearer CALLERS-TOKEN", "api-key": "CALLERS-KEY" } });
  const seen = rig.public_.arrivals[0]?.headers ?? {};
  assert.equal(seen.authorization, "Bearer demo-public-api-key");
  assert.equal(seen["api-key"], undefined);
  assert.equal(seen.host, "api.example.com");
});

test("Open: with no tier left refusal is at once, by JSON, service or not", async () => {
  rig.reset();
  rig.public_.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  assert.equal(await rig.state("public"), OPEN);
  rig.reset();
  for (let call = 0; call < 20; call++) {
    const answer = await chat(rig.url);
    assert.equal(answer.status, 503);
    assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_exhausted");
    assert.ok(answer.totalMs < 500, `refused after ${answer.totalMs} ms`);
  }
  assert.deepEqual(rig.hits, [0, 0, 0]);
});
