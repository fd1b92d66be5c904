import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Answer } from "../support/client.js";
import { RunningRedis } from "../support/redis.js";
import { ask, remainingOf, startLimited } from "./support/limited.js";
import type { Rig } from "./support/rig.js";

const LIMIT = 10_000;
const OUTPUT = 100;

let redis: RunningRedis;
let gateways: Rig[] = [];

before(async () => {
  redis = await RunningRedis.start();
  // Two busy cores stop a process for longer than a Redis should take.
  const limits = { tokensPerMinute: LIMIT, redis: { url: redis.url, timeout: "1s" } };
  gateways = await Promise.all([startLimited(limits), startLimited(limits)]);
});

after(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await redis.stop();
});

/** So many requests at once, by turns to each gateway; what their backends are slow to answer is under way together. */
async function burst(caller: string, count: number): Promise<Answer[]> {
  for (const { gpu } of gateways) gpu.mode = { kind: "ok", delayMs: 1000 };
  const asked = Array.from({ length: count }, (_, i) => {
    const gateway = gateways[i % gateways.length] ?? assert.fail();
    return ask(gateway, { caller, outputTokens: OUTPUT });
  });
  return await Promise.all(asked);
}

function countsOf(answers: readonly Answer[]): { passed: number; refused: number; tokensEach: number } {
  const passed = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  assert.equal(passed.length + refused.length, answers.length);
  const tokensEach = LIMIT - Math.max(...passed.map((answer) => remainingOf(answer) ?? 0));
  return { passed: passed.length, refused: refused.length, tokensEach };
}

test("two gateways on one Redis give out one limit", async () => {
  const { passed, tokensEach } = countsOf(await burst("shared", 200));
  assert.ok(tokensEach > OUTPUT && tokensEach < OUTPUT + 20, String(tokensEach));
  assert.equal(passed, Math.floor(LIMIT / tokensEach));
});

test("with Redis killed in the middle no request fails, and each gateway goes on with limits of its own", async () => {
  const first = burst("orphaned", 60);
  redis.signal("SIGKILL");
  const { passed: early, tokensEach } = countsOf([...(await first), ...(await burst("orphaned", 200))]);
  const each = Math.floor(LIMIT / tokensEach);
  // What Redis gave before it died, and the whole limit at each gateway.
  assert.ok(early >= 2 * each && early <= 3 * each, `${early} of ${each} at each gateway`);
  for (const { service } of gateways) {
    assert.equal(service?.log.matching(/Redis is away/).length, 1);
  }
});
