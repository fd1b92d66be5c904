import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Answer, chat, send } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { OPEN, type Rig, startRig, staysOpen } from "./support/rig.js";
import { addBackend, addRoute, chainOf } from "./support/shipped-config.js";

// What becomes of a request that was handed to the service for an answer, and came back without one.
let rig: Rig;

before(async () => {
  rig = await startRig({
    // Each worker notices the service's silence by itself.
    concurrency: 1,
    policy: (policy) => {
      Object.assign(policy.breaker, staysOpen);
      const exhausted = { action: "cached", status: 529 };
      Object.assign(chainOf(policy), { tiers: ["gpu"], exhausted });
      policy.backends.narrow = { maxConcurrentCalls: 1 };
      policy.chains.narrow = { tiers: ["narrow"], exhausted };
    },
    patch: (config) => {
      addBackend(config, "narrow", "gpu", 9102);
      addRoute(config, "/narrow/", "narrow");
    },
  });
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  await rig.waitForState(OPEN);
});

beforeEach(() => rig.reset());

after(() => rig?.stop());

function assertRefused(answer: Answer, mostMs: number): void {
  assert.equal(answer.status, 529, answer.text);
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(answer.headers["x-llm-breaker-reason"], "exhausted");
  const wait = Number(answer.headers["retry-after"]);
  assert.ok(wait >= 1 && wait <= 72, `${wait} s`);
  assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_exhausted");
  assert.ok(answer.totalMs < mostMs, `refused after ${answer.totalMs} ms`);
  assert.deepEqual(rig.hits, [0, 0, 0]);
}

test("is refused as JSON when the service has no answer, streamed or not", async () => {
  for (const stream of [false, true]) assertRefused(await chat(rig.url, { stream }), 700);
});

test("is refused at once when there is nothing to be answered", async () => {
  assertRefused(await send(`${rig.url}/v1/models`), 300);
  assertRefused(await send(`${rig.url}/v1/chat/completions`, { method: "POST" }), 300);
});

test("is served after all when a tier permits by then, and refused when the service is silent", async () => {
  rig.service?.signal("SIGSTOP");
  rig.small.mode = { kind: "ok", delayMs: 500 };
  const first = chat(`${rig.url}/narrow`);
  await waitFor(() => rig.small.arrivals.length === 1, 2_000, "the first call");
  // No tier has room, so the service is asked, in vain, for a second.
  const second = await chat(`${rig.url}/narrow`);
  assert.deepEqual([(await first).status, second.status], [200, 200]);
  assert.ok(second.totalMs > 900, `served after ${second.totalMs} ms`);
  rig.reset();
  assertRefused(await chat(rig.url), 1_700);
  const isAtOnce = async (): Promise<boolean> => (await chat(rig.url)).totalMs < 300;
  await waitFor(isAtOnce, 8_000, "the silence noticed");
  assertRefused(await chat(rig.url), 300);
});
