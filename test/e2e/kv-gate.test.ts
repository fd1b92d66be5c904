import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { chat } from "../support/client.js";
import { startUpstream, type Upstream } from "../support/upstream.js";
import type { Mode } from "../support/upstream-mode.js";
import { waitFor } from "../support/wait-for.js";
import { CLOSED, HALF_OPEN, isProbe, noTrigger, type Rig, startRig } from "./support/rig.js";

let rig: Rig;
let engine: Upstream;

before(async () => {
  engine = await startUpstream({ mode: uses("0.9") });
  const metrics = `http://127.0.0.1:${engine.port}/metrics`;
  rig = await startRig({
    serviceConfig: { signals: { period: "200ms", backends: { gpu: { metrics } } } },
    policy: ({ breaker }) => {
      Object.assign(breaker, noTrigger, {
        engineFatal: true,
        kvCacheUseThreshold: 75,
        ramp: [{ percent: 100, maxConcurrent: 2, successes: 2 }],
      });
    },
  });
});

after(async () => {
  await engine.stop();
  await rig.stop();
});

function uses(share: string): Mode {
  const body = `vllm:kv_cache_usage_perc{model_name="qwen3-32b"} ${share}\nvllm:num_requests_waiting 0\n`;
  return { kind: "status", status: 200, headers: { "content-type": "text/plain" }, body };
}

/** The backend fails, is probed, and answers again. */
async function recoverToRamp(): Promise<void> {
  const probed = () => rig.transitions().filter(({ cause }) => cause === "PROBE_SUCCEEDED").length;
  const before = probed();
  rig.gpu.mode = ({ body }) => (isProbe(body) ? { kind: "ok" } : { kind: "sseError", at: 0 });
  await chat(rig.url, { stream: true });
  rig.gpu.mode = { kind: "ok" };
  await waitFor(() => probed() > before, 10_000, "the ramp");
}

/** Canaries that gpu answers. */
async function sendCanaries(count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    const { status, headers } = await chat(rig.url);
    assert.equal(status, 200);
    assert.equal(headers["x-llm-breaker-backend"], "gpu");
  }
}

/** Milliseconds until the backend is closed, with nobody calling. */
async function untilClosed(): Promise<number> {
  const startedAt = performance.now();
  await rig.waitForState(CLOSED);
  return performance.now() - startedAt;
}

test("a KV cache at 90 % keeps a recovered backend half-open, canaries go on, and below 75 % for 5 s it closes", async () => {
  // The service has asked, and the gateway has heard.
  await sleep(1_500);
  await recoverToRamp();
  await sendCanaries(6);
  await sleep(1_500);
  assert.equal(await rig.state(), HALF_OPEN);
  await sendCanaries(2);
  assert.equal(await rig.state(), HALF_OPEN);
  engine.mode = uses("0.7");
  const ms = await untilClosed();
  assert.ok(ms > 4_000 && ms < 8_000, `closed after ${ms} ms`);
});

test("a page that hangs keeps it half-open, one without the figure does not", async () => {
  engine.mode = { kind: "hang" };
  await sleep(4_500);
  await recoverToRamp();
  await sendCanaries(4);
  await sleep(1_500);
  assert.equal(await rig.state(), HALF_OPEN);
  engine.mode = uses("NaN");
  await untilClosed();
});

test("with a cache that is empty enough it closes by its canaries", async () => {
  engine.mode = uses("0.2");
  await sleep(6_500);
  await recoverToRamp();
  await sendCanaries(2);
  assert.ok((await untilClosed()) < 3_000);
});
