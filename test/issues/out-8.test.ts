import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { CLOSED, type Rig, startRig } from "../e2e/support/rig.js";
import { clusterOf, connectionManager } from "../e2e/support/shipped-config.js";
import { chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: ({ breaker }) => {
      breaker.waitDurationInOpenState = "5s";
      breaker.maxWaitDurationInOpenState = "5s";
    },
    patch: (config) => {
      clusterOf(config, "gpu").circuit_breakers = {
        thresholds: [{ priority: "HIGH", max_requests: 1, max_connections: 100, max_retries: 1000 }],
      };
      const permission = { header: { name: "x-refuse-me", present_match: true } };
      const rules = {
        action: "DENY",
        policies: { marked: { permissions: [permission], principals: [{ any: true }] } },
      };
      const type = "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC";
      connectionManager(config).http_filters.unshift({
        name: "envoy.filters.http.rbac",
        typed_config: { "@type": type, rules },
      });
    },
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

const failures = (): Promise<number> => rig.counter("gpu", "outcome.failure");

test("OUT-8: requests dropped by Envoy's own limits are no failures, and their callers get JSON", async () => {
  rig.gpu.mode = { kind: "sse", events: 20, gapMs: 100 };
  const long = chat(rig.url, { stream: true });
  await waitFor(() => rig.gpu.active === 1, 5_000, "the long stream");
  for (let call = 0; call < 50; call++) {
    const answer = await chat(rig.url);
    if (answer.status === 200) continue;
    assert.equal(answer.status, 503);
    assert.equal(typeof JSON.parse(answer.text).error.message, "string");
  }
  assert.ok((await rig.envoy.stat("cluster.gpu.upstream_rq_active_overflow")) > 0, "nothing overflowed");
  assert.equal((await long).status, 200);
  assert.equal(await failures(), 0);
  assert.equal(await rig.state(), CLOSED);
});

test("OUT-8: a filter's refusal before ours is no failure", async () => {
  for (let call = 0; call < 20; call++) {
    assert.equal((await chat(rig.url, { headers: { "x-refuse-me": "1" } })).status, 403);
  }
  assert.equal(await failures(), 0);
  assert.equal(rig.gpu.arrivals.length, 0);
});

test("OUT-8: an open breaker's own refusals do not feed it", async () => {
  for (const upstream of [rig.gpu, rig.small, rig.public_]) upstream.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  const transitions = rig.transitions().length;
  const before = await failures();
  for (let call = 0; call < 30; call++) {
    const answer = await chat(rig.url);
    assert.equal(answer.status, 503);
    assert.equal(answer.headers["x-llm-breaker-reason"], "exhausted");
    assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_exhausted");
    assert.ok(Number(answer.headers["retry-after"]) >= 1);
  }
  assert.equal(await failures(), before);
  assert.equal(rig.transitions().length, transitions);
});
