import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Answer, send } from "../support/client.js";
import { loadedAnswer } from "../support/loaded-answer.js";
import { waitFor } from "../support/wait-for.js";
import { isProbe, neverOpen, OPEN, type Rig, startRig } from "./support/rig.js";
import { clusterOf, type ShippedConfig } from "./support/shipped-config.js";

const format = "endpoint-load-metrics-format";
const load = "endpoint-load-metrics";

let rig: Rig;

before(async () => {
  rig = await startRig({ service: false, patch: askForLoad, policy: neverOpen });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

/** The GPUs are asked in one form, the next tier in the other, the last one not at all. */
function askForLoad(config: ShippedConfig): void {
  clusterOf(config, "gpu").metadata.filter_metadata["llm.breaker"].loadMetrics = "TEXT";
  clusterOf(config, "small").metadata.filter_metadata["llm.breaker"].loadMetrics = "json";
}

function ask(headers: Record<string, string> = {}, stream = false): Promise<Answer> {
  const body = JSON.stringify({ model: "qwen3-32b", stream, messages: [{ role: "user", content: "hi" }] });
  return send(`${rig.url}/v1/chat/completions`, { headers, body });
}

test("an engine is asked for its load in the form its cluster names, and no caller sees or sets any of it", async () => {
  rig.gpu.mode = loadedAnswer("TEXT named_metrics.kv_cache_usage_perc=0.4");
  for (const answer of [await ask(), await ask({ [format]: "BIN" })]) {
    assert.equal(answer.status, 200);
    assert.equal(answer.headers[load], undefined);
  }
  assert.deepEqual(
    rig.gpu.arrivals.map(({ headers }) => headers[format]),
    ["TEXT", "TEXT"],
  );
});

test("each attempt asks as its own cluster does, whatever the caller or an attempt before it asked", async () => {
  rig.gpu.mode = { kind: "status", status: 500 };
  rig.small.mode = { kind: "status", status: 429 };
  const answer = await ask({ [format]: "JSON" });
  assert.equal(answer.headers["x-llm-breaker-backend"], "public");
  assert.deepEqual(
    [rig.gpu, rig.small, rig.public_].map(({ arrivals }) => arrivals.at(-1)?.headers[format]),
    ["TEXT", "json", undefined],
  );
});

test("what a failed attempt, a stream and an answer of nonsense tell goes to no caller either", async () => {
  const json = { "content-type": "application/json", [load]: "TEXT kv_cache_use=0.4" };
  rig.gpu.mode = { kind: "status", status: 400, headers: json, body: '{"error":{"message":"no"}}' };
  const refused = await ask();
  assert.deepEqual([refused.status, refused.headers[load]], [400, undefined]);
  const events = { "content-type": "text/event-stream", [load]: 'JSON {"named_metrics":{"waiting":1}}' };
  const writes = [
    'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n',
    "data: [DONE]\n\n",
  ];
  rig.gpu.mode = { kind: "chunks", headers: events, writes };
  const streamed = await ask({}, true);
  assert.deepEqual([streamed.status, streamed.complete, streamed.headers[load]], [200, true, undefined]);
  for (const nonsense of ["", "TEXT", "x".repeat(20_000), `TEXT ${"waiting=".repeat(500)}`]) {
    rig.gpu.mode = loadedAnswer(nonsense);
    const answer = await ask();
    assert.deepEqual([answer.status, answer.headers[load]], [200, undefined]);
  }
  assert.equal(await rig.counter("gpu", "lost_updates"), 0);
});

test("an engine that nobody asks is left alone", async () => {
  rig.gpu.mode = { kind: "reset" };
  rig.small.mode = { kind: "reset" };
  rig.public_.mode = loadedAnswer("TEXT waiting=3");
  const answer = await ask();
  assert.equal(answer.headers["x-llm-breaker-backend"], "public");
  assert.equal(answer.headers[load], "TEXT waiting=3");
});

test("a probe asks too", async () => {
  const opening = await startRig({
    service: false,
    patch: askForLoad,
    policy: (policy) => Object.assign(policy.breaker, { consecutiveFailuresThreshold: 1 }),
  });
  try {
    opening.gpu.mode = { kind: "status", status: 500 };
    await send(`${opening.url}/v1/chat/completions`, { body: '{"messages":[]}' });
    await opening.waitForState(OPEN);
    const probe = await waitFor(
      () => opening.gpu.arrivals.find(({ body }) => isProbe(body)),
      5_000,
      "a probe of gpu",
    );
    assert.equal(probe.headers[format], "TEXT");
  } finally {
    await opening.stop();
  }
});
