import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { LimitMemory } from "../../../extproc/limits/limit-memory.js";
import { admitted, limiterOf, refused, request, tokensOf } from "../support/limits.js";

const LIMIT = 10_000;

function clockAt(startMs: number) {
  let now = startMs;
  return { now: () => now, pass: (ms: number) => (now += ms) };
}

test("200 requests at once never pass more than the limit", async () => {
  const { limiter } = limiterOf({ tokensPerMinute: LIMIT });
  const asked = await Promise.all(Array.from({ length: 200 }, () => limiter.admit(request(130))));
  assert.equal(tokensOf(asked, 130), Math.floor(LIMIT / 130) * 130);
});

test("a request larger than the limit takes all of it, and no more", async () => {
  const { limiter } = limiterOf({ tokensPerMinute: LIMIT });
  const { headers } = await admitted(limiter, request(LIMIT * 5));
  assert.equal(headers["x-ratelimit-remaining-tokens"], "0");
  assert.equal((await refused(limiter, request(1))).reason, "tokens");
});

test("the limit is the model's, times headroom", async () => {
  const { limiter } = limiterOf({ tokensPerMinute: LIMIT, headroom: 0.8 });
  const { headers } = await admitted(limiter, request(1000));
  assert.equal(headers["x-ratelimit-limit-tokens"], "8000");
  assert.equal(headers["x-ratelimit-remaining-tokens"], "7000");
});

test("waiting as long as a refusal says is enough", async () => {
  const { now, pass } = clockAt(1_700_000_000_000);
  const { limiter } = limiterOf({ tokensPerMinute: LIMIT }, { now });
  await admitted(limiter, request(LIMIT));
  pass(20_000);
  const { retryAfterSeconds, headers } = await refused(limiter, request(500));
  assert.equal(headers["x-ratelimit-reset-tokens"], `${retryAfterSeconds}s`);
  pass(retryAfterSeconds * 1000);
  await admitted(limiter, request(500));
});

test("real usage takes the place of the reservation", async () => {
  const { limiter } = limiterOf({ tokensPerMinute: LIMIT });
  const { reservation } = await admitted(limiter, request(9000));
  limiter.settle(reservation, 1200);
  const { headers } = await admitted(limiter, request(100));
  assert.equal(headers["x-ratelimit-remaining-tokens"], "8700");
});

test("usage beyond the reservation counts from when it is known", async () => {
  const { now, pass } = clockAt(1_700_000_000_000);
  const { limiter } = limiterOf({ tokensPerMinute: LIMIT }, { now });
  const { reservation } = await admitted(limiter, request(100));
  pass(40_000);
  limiter.settle(reservation, 10_100);
  pass(40_000);
  assert.equal((await refused(limiter, request(1))).reason, "tokens");
  pass(25_000);
  await admitted(limiter, request(LIMIT));
});

test("a debit without known usage stays, its place among those under way does not", async () => {
  const { limiter } = limiterOf({ tokensPerMinute: LIMIT, concurrent: 1 });
  const { reservation } = await admitted(limiter, request(4000));
  assert.equal((await refused(limiter, request(1))).reason, "concurrency");
  limiter.settle(reservation, undefined);
  const { headers } = await admitted(limiter, request(1000));
  assert.equal(headers["x-ratelimit-remaining-tokens"], "5000");
});

test("a late settlement of what has left its window changes nothing", async () => {
  const { now, pass } = clockAt(1_700_000_000_000);
  const { limiter } = limiterOf({ tokensPerMinute: LIMIT }, { now });
  const { reservation } = await admitted(limiter, request(9000));
  pass(66_000);
  await admitted(limiter, request(LIMIT));
  limiter.settle(reservation, 0);
  assert.equal((await refused(limiter, request(1))).reason, "tokens");
});

test("requests per minute count refused ones of other limits not", async () => {
  const { limiter } = limiterOf({ tokensPerMinute: 100, requestsPerMinute: 3 });
  const { headers } = await admitted(limiter, request(80));
  assert.equal(headers["x-ratelimit-remaining-requests"], "2");
  for (let i = 0; i < 5; i++) assert.equal((await refused(limiter, request(50))).reason, "tokens");
  await admitted(limiter, request(5));
  await admitted(limiter, request(5));
  const refusal = await refused(limiter, request(5));
  assert.deepEqual([refusal.reason, refusal.limit], ["requests", 3]);
});

test("what one limit refuses gives back what the others gave", async () => {
  const { limiter } = limiterOf({ tokensPerMinute: LIMIT, requestsPerMinute: 10, concurrent: 1 });
  await admitted(limiter, request(1000));
  for (let i = 0; i < 50; i++) assert.equal((await refused(limiter, request(1000))).reason, "concurrency");
  const { headers } = await refused(limiter, request(1000));
  assert.equal(headers["x-ratelimit-remaining-tokens"], "8000");
  assert.equal(headers["x-ratelimit-remaining-requests"], "8");
});

test("a request whose end is never heard of is under way until its lease is over", async () => {
  const { now, pass } = clockAt(1_700_000_000_000);
  const { limiter } = limiterOf({ concurrent: 2, leaseTimeout: "2m" }, { now });
  await admitted(limiter, request(1));
  await admitted(limiter, request(1));
  pass(119_000);
  const refusal = await refused(limiter, request(1));
  assert.equal(refusal.retryAfterSeconds, 1);
  pass(12_000);
  await admitted(limiter, request(1));
});

test("a cancelled request has taken nothing", async () => {
  const { limiter } = limiterOf({ tokensPerMinute: LIMIT, requestsPerMinute: 1, concurrent: 1 });
  for (let i = 0; i < 10; i++) limiter.cancel((await admitted(limiter, request(LIMIT))).reservation);
});

test("callers and classes have budgets of their own", async () => {
  const classes = { vip: { tokensPerMinute: 500 }, batch: { concurrent: 1 } };
  const { limiter } = limiterOf({ tokensPerMinute: 100, classes });
  await admitted(limiter, request(100));
  await admitted(limiter, request(100, { caller: "bob" }));
  await admitted(limiter, request(500, { className: "vip" }));
  await admitted(limiter, request(100, { className: "batch" }));
  assert.equal((await refused(limiter, request(1, { className: "batch" }))).reason, "tokens");
  // One that nobody knows is no way to another budget.
  assert.equal((await refused(limiter, request(1, { className: "gold" }))).reason, "tokens");
});

test("callers without an identity share one budget, or have no limits", async () => {
  const nobody = { caller: undefined };
  const { limiter } = limiterOf({ tokensPerMinute: 100 });
  await admitted(limiter, request(100, nobody));
  assert.equal((await refused(limiter, request(1, nobody))).reason, "tokens");
  const unlimited = limiterOf({ tokensPerMinute: 100 }, { anonymous: "unlimited" }).limiter;
  for (let i = 0; i < 10; i++) {
    assert.equal((await admitted(unlimited, request(100, nobody))).reservation, "");
  }
});

test("sizes that nobody knows are reserved as configured", async () => {
  const sizes = { defaultPromptTokens: 300, defaultOutputTokens: 200 };
  const { limiter } = limiterOf({ tokensPerMinute: 1000, ...sizes });
  const unknown = { promptTokens: undefined, outputTokens: undefined };
  const { headers } = await admitted(limiter, request(0, unknown));
  assert.equal(headers["x-ratelimit-remaining-tokens"], "500");
  // Each of several open answers counts.
  assert.equal(
    (await refused(limiter, request(0, { ...unknown, promptTokens: 0, answers: 3 }))).reason,
    "tokens",
  );
});

test("no limit configured is none", async () => {
  const { limiter } = limiterOf({ tokensPerMinute: 0, classes: { vip: { requestsPerMinute: 1 } } });
  assert.deepEqual(await limiter.admit(request(1e9)), { allowed: true, reservation: "", headers: {} });
  await admitted(limiter, request(1, { className: "vip" }));
  assert.equal((await refused(limiter, request(1, { className: "vip" }))).reason, "requests");
});

test("changed limits go on with what was counted", async () => {
  const memory = new LimitMemory();
  await admitted(limiterOf({ tokensPerMinute: 1000 }, { memory }).limiter, request(1000));
  const { limiter } = limiterOf({ tokensPerMinute: 1500 }, { memory });
  assert.equal((await refused(limiter, request(501))).reason, "tokens");
  await admitted(limiter, request(500));
});

test("a text that is no reservation is ignored", () => {
  const { limiter } = limiterOf({ tokensPerMinute: 1000 });
  for (const text of ["", "{}", "[]", "null", "{", '{"caller":1}', `"${"x".repeat(5000)}"`]) {
    limiter.settle(text, 5);
    limiter.cancel(text);
  }
});

test("a hundred thousand callers take less than 80 MB", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const { limiter } = limiterOf({ tokensPerMinute: LIMIT, requestsPerMinute: 100, concurrent: 10 });
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 100_000; i++) {
    await limiter.admit(request(100, { caller: `caller ${i} of an id as long as a hash is` }));
  }
  collectGarbage();
  const grownMb = (process.memoryUsage().heapUsed - before) / 1e6;
  assert.ok(grownMb > 10 && grownMb < 80, `${grownMb} MB`);
  assert.equal((await admitted(limiter, request(1))).headers["x-ratelimit-remaining-requests"], "99");
});
