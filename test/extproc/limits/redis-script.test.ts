import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { Redis } from "ioredis";
import { SLIDING_WINDOW_SCRIPT } from "../../../extproc/limits/redis-script.js";
import { SlidingWindow } from "../../../extproc/limits/sliding-window.js";
import { slotWidth } from "../../../extproc/limits/slots.js";
import { RunningRedis } from "../../support/redis.js";

const LIMIT = 100;

let redis: RunningRedis;
let client: Redis;
let keys = 0;

before(async () => {
  redis = await RunningRedis.start();
  client = new Redis(redis.url);
});

after(async () => {
  client.disconnect();
  await redis.stop();
});

const run = async (key: string, points: number, seconds: number, windowSeconds: number) =>
  (await client.eval(SLIDING_WINDOW_SCRIPT, 1, key, points, seconds, LIMIT, windowSeconds)) as [
    number,
    number,
  ];

/** Points, and for how many seconds they are to count: the whole window for a question. */
const change = fc.oneof(
  fc.record({ points: fc.integer({ min: 1, max: 60 }), seconds: fc.constant(3600) }),
  fc.record({ points: fc.integer({ min: -60, max: 60 }), seconds: fc.constantFrom(150, 1350, 2550) }),
);

test("decides and counts as the window in memory does", async () => {
  // An hour has slots of 300 s, and what is told falls into their middles or borders: none of these may pass meanwhile.
  const windowSeconds = 3600;
  const untilBorderMs = 150_000 - (Date.now() % 150_000);
  if (untilBorderMs < 8_000) await delay(untilBorderMs + 10);
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 25 }), async (changes) => {
      const key = `alike-${++keys}`;
      const now = Date.now();
      const window = new SlidingWindow(slotWidth(windowSeconds));
      for (const { points, seconds } of changes) {
        const [total, ms] = await run(key, points, seconds, windowSeconds);
        if (seconds !== windowSeconds) {
          assert.equal(total, window.tell(points, seconds, now));
          continue;
        }
        const asked = window.ask(points, seconds, LIMIT, now);
        assert.equal(total, asked.isGranted ? asked.total : asked.total + points);
        assert.ok(Math.abs(ms - asked.waitMs) < 30_000, `${ms} ms instead of ${asked.waitMs}`);
      }
    }),
    { numRuns: 40 },
  );
});

test("points leave when their time is up, and so does the key", async () => {
  assert.deepEqual((await run("short", LIMIT, 1, 1))[0], LIMIT);
  const [total, waitMs] = await run("short", 1, 1, 1);
  assert.equal(total, LIMIT + 1);
  assert.ok(waitMs > 0 && waitMs <= 1084, String(waitMs));
  await delay(waitMs + 20);
  assert.equal((await run("short", 1, 1, 1))[0], 1);
  assert.equal(await client.hlen("short"), 1);
  await delay(1300);
  assert.equal(await client.exists("short"), 0);
});
