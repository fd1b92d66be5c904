import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, send } from "../support/client.js";
import { loadedAnswer } from "../support/loaded-answer.js";
import { waitFor } from "../support/wait-for.js";
import { CLOSED, HALF_OPEN, OPEN, type Rig, startRig } from "./support/rig.js";
import { clusterOf, type PolicyJson, type ShippedConfig } from "./support/shipped-config.js";

/** Longer than a figure is fresh. */
const SILENCE_MS = 5_500;

let rig: Rig;

before(async () => {
  rig = await startRig({ service: false, policy: recoverFast, patch: askForLoad });
});

after(() => rig.stop());

function recoverFast(policy: PolicyJson): void {
  Object.assign(policy.breaker, { consecutiveFailuresThreshold: 2, kvCacheUseThreshold: 75 });
}

function askForLoad(config: ShippedConfig): void {
  clusterOf(config, "gpu").metadata.filter_metadata["llm.breaker"].loadMetrics = "TEXT";
}

function ask(): Promise<Answer> {
  return send(`${rig.url}/v1/chat/completions`, { body: '{"messages":[{"role":"user","content":"hi"}]}' });
}

async function askUntil(state: number, limitMs: number): Promise<void> {
  const isThere = async () => {
    await ask();
    return (await rig.state()) === state;
  };
  await waitFor(isThere, limitMs, `state ${state}`);
}

/** Callers are served all the while, and canaries among them. */
async function isHeldFor(ms: number): Promise<void> {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs) {
    const { status } = await ask();
    assert.equal(status, 200);
    assert.equal(await rig.state(), HALF_OPEN);
    await sleep(50);
  }
}

const kvCacheUse = (share: number) => loadedAnswer(`TEXT named_metrics.kv_cache_usage_perc=${share}`);

test("a recovered backend whose answers tell of a full KV cache stays half-open, and closes once it is not", async () => {
  rig.gpu.mode = { kind: "status", status: 500 };
  await askUntil(OPEN, 5_000);
  rig.gpu.mode = kvCacheUse(0.9);
  await rig.waitForState(HALF_OPEN);
  rig.gpu.reset();
  await isHeldFor(1_500);
  assert.ok(rig.gpu.arrivals.length > 2, "canaries go on");
  await sleep(SILENCE_MS);
  assert.equal(await rig.state(), HALF_OPEN, "silence is no better news");
  await isHeldFor(500);
  rig.gpu.mode = kvCacheUse(0.5);
  const emptiedMs = performance.now();
  await askUntil(CLOSED, 8_000);
  const tookMs = performance.now() - emptiedMs;
  assert.ok(tookMs > 4_000 && tookMs < 7_000, `the worst of five seconds counts: ${tookMs} ms`);
});

test("answers that tell nothing of it hold nothing", async () => {
  rig.gpu.mode = { kind: "status", status: 500 };
  await askUntil(OPEN, 5_000);
  // What was told before the opening is old by then, or low.
  rig.gpu.mode = loadedAnswer("TEXT named_metrics.kv_cache_usage_perc=NaN");
  await askUntil(CLOSED, 4_000);
});
