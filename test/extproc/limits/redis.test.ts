import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import type { CallerLimiter } from "../../../extproc/limits/caller-limiter.js";
import { RunningRedis } from "../../support/redis.js";
import { waitFor } from "../../support/wait-for.js";
import { admitted, limiterOf, refused, request, tokensOf } from "../support/limits.js";

const LIMIT = 10_000;
/** Wide: two shared cores may be busy with something else for longer than a Redis should take. */
const PATIENT = "2s";

let redis: RunningRedis;
let client: Redis;
let prefix = 0;

before(async () => {
  redis = await RunningRedis.start();
  client = new Redis(redis.url, { lazyConnect: true, retryStrategy: () => 100 });
  client.on("error", () => {});
  await client.connect();
});

after(async () => {
  client.disconnect();
  await redis.stop();
});

/** Gateways with common counts, all connected. */
async function gateways(count: number, limits: Record<string, unknown>, timeout = PATIENT) {
  const keyPrefix = `test-${++prefix}`;
  const all = Array.from({ length: count }, () =>
    limiterOf({ ...limits, redis: { url: redis.url, keyPrefix, timeout } }),
  );
  for (const gateway of all) await connected(gateway);
  return { all, keyPrefix, close: () => all.forEach(({ limiter }) => void limiter.close()) };
}

async function connected({ limiter }: ReturnType<typeof limiterOf>): Promise<void> {
  await waitFor(() => isShared(limiter, "nobody"), 10_000, "counting in Redis");
}

/** Whether a request of the caller is admitted, by Redis. */
async function isShared(limiter: CallerLimiter, caller: string): Promise<boolean> {
  const admission = await limiter.admit(request(1, { caller }));
  if (!admission.allowed) return false;
  limiter.cancel(admission.reservation);
  return admission.reservation.includes('"redis"');
}

test("200 requests at once at two gateways never pass more than the limit together", async () => {
  const { all, close } = await gateways(2, { tokensPerMinute: LIMIT });
  const asked = Array.from({ length: 200 }, (_, i) => all[i % 2]?.limiter.admit(request(130)));
  const admissions = (await Promise.all(asked)).filter((each) => each !== undefined);
  assert.equal(admissions.length, 200);
  assert.equal(tokensOf(admissions, 130), Math.floor(LIMIT / 130) * 130);
  close();
});

test("one gateway's settled usage is another's room", async () => {
  const { all, close } = await gateways(2, { tokensPerMinute: LIMIT });
  const [one, other] = all;
  assert.ok(one && other);
  const { reservation } = await admitted(one.limiter, request(LIMIT));
  const { retryAfterSeconds, headers } = await refused(other.limiter, request(1000));
  assert.ok(retryAfterSeconds >= 55 && retryAfterSeconds <= 65, String(retryAfterSeconds));
  assert.equal(headers["x-ratelimit-remaining-tokens"], "0");
  one.limiter.settle(reservation, 400);
  await waitFor(async () => (await other.limiter.admit(request(9600))).allowed, 2000, "room");
  close();
});

test("usage beyond what was reserved is charged", async () => {
  const { all, close } = await gateways(1, { tokensPerMinute: LIMIT });
  const [{ limiter } = assert.fail()] = all;
  limiter.settle((await admitted(limiter, request(100))).reservation, 9000);
  const remaining = async () =>
    Number((await admitted(limiter, request(1))).headers["x-ratelimit-remaining-tokens"]);
  await waitFor(async () => (await remaining()) < 1000, 2000, "the charge");
  close();
});

test("a caller's key is a hash's, expires, and holds a slot of points", async () => {
  const { all, keyPrefix, close } = await gateways(1, { tokensPerMinute: LIMIT });
  await admitted(all[0]?.limiter ?? assert.fail(), request(50, { caller: "c2VjcmV0" }));
  const key = `${keyPrefix}:tokens:default:c2VjcmV0`;
  assert.deepEqual(Object.values(await client.hgetall(key)), ["50"]);
  const expiresMs = await client.pttl(key);
  assert.ok(expiresMs > 65_000 && expiresMs <= 70_000, String(expiresMs));
  close();
});

test("with Redis killed in the middle no request fails, and limits go on at each gateway", async () => {
  const { all, close } = await gateways(2, { tokensPerMinute: LIMIT }, "50ms");
  const port = redis.port;
  const waits: number[] = [];
  const passed = [0, 0];
  const run = async (gateway: number) => {
    for (let i = 0; i < 150; i++) {
      const startMs = performance.now();
      const admission = await all[gateway]?.limiter.admit(request(100));
      waits.push(performance.now() - startMs);
      if (admission?.allowed) passed[gateway] = (passed[gateway] ?? 0) + 100;
      if (i === 20 && gateway === 0) redis.signal("SIGKILL");
      await delay(1);
    }
  };
  await Promise.all([run(0), run(1)]);
  const [first = 0, second = 0] = passed;
  // Each had a part of the common limit, and one of its own afterwards.
  assert.ok(first >= LIMIT && second >= LIMIT && first + second <= 3 * LIMIT, `${first}, ${second}`);
  assert.ok(Math.max(...waits) < 500, `waited ${Math.max(...waits)} ms`);
  for (const { lines } of all) {
    assert.equal(lines.filter(({ msg }) => msg.startsWith("Redis is away")).length, 1);
  }
  await redis.stop();
  redis = await RunningRedis.start(port);
  for (const gateway of all) {
    await connected(gateway);
    assert.equal(gateway.lines.filter(({ msg }) => msg.startsWith("Redis is there")).length, 2);
  }
  close();
});

test("a Redis that hangs costs the requests of one moment its timeout, and nobody after them", async () => {
  const { all, close } = await gateways(1, { tokensPerMinute: LIMIT, concurrent: 50 }, "50ms");
  const { limiter } = all[0] ?? assert.fail();
  redis.signal("SIGSTOP");
  const firstMs = await timed(() => limiter.admit(request(1)));
  const nextMs = await timed(() => limiter.admit(request(1)));
  redis.signal("SIGCONT");
  assert.ok(firstMs >= 49 && firstMs < 500, `${firstMs} ms`);
  assert.ok(nextMs < 40, `${nextMs} ms`);
  await connected(all[0] ?? assert.fail());
  close();
});

test("ends that Redis did not hear of are told when it is there again", async () => {
  const { all, close } = await gateways(1, { concurrent: 2 });
  const { limiter } = all[0] ?? assert.fail();
  const both = [await admitted(limiter, request(1)), await admitted(limiter, request(1))];
  assert.equal((await refused(limiter, request(1))).reason, "concurrency");
  redis.signal("SIGSTOP");
  const hung = await admitted(limiter, request(1));
  assert.match(hung.reservation, /"both"/);
  for (const { reservation } of [...both, hung]) limiter.settle(reservation, undefined);
  redis.signal("SIGCONT");
  await connected(all[0] ?? assert.fail());
  await waitFor(() => isShared(limiter, "ada"), 5000, "a free place");
  close();
});

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
