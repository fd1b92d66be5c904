import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Answer } from "../support/client.js";
import { RunningRedis } from "../support/redis.js";
import { ask, LEAST_PROMPT, MOST_PROMPT, passedOf, startLimited } from "./support/limited.js";
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
  for (const { gpu } of gateways) gpu.mode = { kind: "ok", delayMs: 2000 };
  const asked = Array.from({ length: count }, (_, i) => {
    const gateway = gateways[i % gateways.length] ?? assert.fail();
    return ask(gateway, { caller, outputTokens: OUTPUT });
  });
  return await Promise.all(asked);
}

test("two gateways on one Redis give out one limit", async () => {
  const { passed, given } = passedOf(await burst("shared", 200), LIMIT);
  assert.ok(passed * (OUTPUT + LEAST_PROMPT) <= LIMIT, `${passed} passed`);
  assert.ok(given <= LIMIT && given > LIMIT - OUTPUT - MOST_PROMPT, `${given} tokens`);
});

test("with Redis killed in the middle no request fails, and each gateway goes on with limits of its own", async () => {
  const first = burst("orphaned", 60);
  redis.signal("SIGKILL");
  const { passed } = passedOf([...(await first), ...(await burst("orphaned", 300))], LIMIT);
  // What Redis gave before it died, and the whole limit at each gateway.
  const least = 2 * Math.floor(LIMIT / (OUTPUT + MOST_PROMPT));
  const most = 3 * Math.floor(LIMIT / (OUTPUT + LEAST_PROMPT));
  assert.ok(passed >= least && passed <= most, `${passed} passed, not ${least} to ${most}`);
  for (const { service } of gateways) {
    assert.equal(service?.log.matching(/Redis is away/).length, 1);
  }
});
