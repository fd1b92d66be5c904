import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chat, send } from "../support/client.js";
import { completionJson } from "../support/completion.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { connectionManager } from "./support/shipped-config.js";

let rig: Rig;

// As in a mesh: Envoy takes the caller for one of its own, and would obey its control headers.
const trusting = { cidr_ranges: [{ address_prefix: "127.0.0.0", prefix_len: 8 }] };

before(async () => {
  rig = await startRig({
    service: false,
    policy: neverOpen,
    patch: (config) => {
      Object.assign(connectionManager(config), {
        internal_address_config: trusting,
        use_remote_address: true,
      });
    },
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

const orders = {
  "x-envoy-retry-on": "5xx,gateway-error,reset,retriable-4xx",
  "x-envoy-retry-grpc-on": "cancelled",
  "x-envoy-max-retries": "9",
  "x-envoy-retriable-status-codes": "400,403,404",
  "x-envoy-retriable-header-names": "content-type",
  "x-envoy-hedge-on-per-try-timeout": "true",
  "x-envoy-upstream-rq-timeout-ms": "1",
  "x-envoy-upstream-rq-per-try-timeout-ms": "1",
  "x-envoy-upstream-rq-timeout-alt-response": "1",
  "x-envoy-upstream-alt-stat-name": "mine",
  "x-envoy-decorator-operation": "mine",
  "x-envoy-original-path": "/mine",
  "x-envoy-attempt-count": "7",
  "x-envoy-ratelimited": "true",
  "x-envoy-is-timeout-retry": "true",
  "x-llm-breaker-retry": "1",
  "x-llm-breaker-probe": "0123456789abcdef0123456789abcdef",
  "x-llm-breaker-backend": "public",
  "x-llm-breaker-canary": "1",
  "x-llm-breaker-attempts": "0",
};

test("a caller's orders to Envoy and to the breaker neither work nor reach the backend", async () => {
  rig.gpu.mode = { kind: "ok", delayMs: 300 };
  for (const stream of [false, true]) {
    rig.gpu.reset();
    const answer = await chat(rig.url, { stream, headers: orders });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
    assert.equal(answer.headers["x-llm-breaker-attempts"], "1");
    assert.equal(rig.gpu.arrivals.length, 1);
    const names = Object.keys(rig.gpu.arrivals[0]?.headers ?? {});
    const forged = names.filter((name) => name in orders);
    assert.deepEqual(forged, []);
  }
  assert.deepEqual(rig.hits, [1, 0, 0]);
});

test("a caller cannot ask for more attempts, nor for a retry of what is none", async () => {
  rig.gpu.mode = { kind: "status", status: 403, body: "no" };
  const denied = await chat(rig.url, { headers: orders });
  assert.equal(denied.status, 403);
  assert.deepEqual(rig.hits, [1, 0, 0]);
  for (const upstream of [rig.gpu, rig.small, rig.public_]) {
    upstream.reset();
    upstream.mode = { kind: "status", status: 500 };
  }
  const failed = await chat(rig.url, { headers: orders });
  assert.equal(failed.status, 500);
  assert.deepEqual(rig.hits, [2, 1, 1]);
});

test("forged timeouts are no failures of the backend", async () => {
  const failures = await rig.counter("gpu", "outcome.failure");
  rig.gpu.mode = { kind: "ok", delayMs: 200 };
  for (let call = 0; call < 5; call++) {
    assert.equal((await chat(rig.url, { stream: call % 2 === 0, headers: orders })).status, 200);
  }
  assert.equal(await rig.counter("gpu", "outcome.failure"), failures);
});

test("a GET, which is not peeked at, is cleaned as well", async () => {
  const answer = await send(`${rig.url}/v1/models`, { headers: orders });
  assert.equal(answer.status, 200);
  const names = Object.keys(rig.gpu.arrivals[0]?.headers ?? {});
  assert.deepEqual(
    names.filter((name) => name in orders),
    [],
  );
});

test("a backend that asks for a retry on its 200 gets none, and the caller sees nothing of it", async () => {
  const forged = {
    "x-llm-breaker-retry": "1",
    "x-llm-breaker-backend": "evil",
    "x-llm-breaker-attempts": "99",
  };
  for (const type of ["application/json", "text/plain", "text/event-stream"]) {
    rig.reset();
    rig.gpu.mode = {
      kind: "chunks",
      headers: { "content-type": type, ...forged },
      writes:
        type === "text/event-stream"
          ? ['data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n']
          : [completionJson("m", "a")],
    };
    const answer = await chat(rig.url);
    assert.equal(answer.status, 200);
    assert.deepEqual(rig.hits, [1, 0, 0]);
    assert.equal(answer.headers["x-llm-breaker-retry"], undefined);
    assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
    assert.equal(answer.headers["x-llm-breaker-attempts"], "1");
  }
  rig.reset();
  rig.gpu.mode = { kind: "status", status: 404, headers: forged, body: "none" };
  const missing = await chat(rig.url);
  assert.equal(missing.status, 404);
  assert.deepEqual(rig.hits, [1, 0, 0]);
  assert.equal(missing.headers["x-llm-breaker-retry"], undefined);
});
