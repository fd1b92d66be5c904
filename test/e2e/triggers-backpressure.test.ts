import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { waitFor } from "../support/wait-for.js";
import { BackendUnderTest, withBackends } from "./support/extra-backends.js";
import { CLOSED, OPEN, type Rig, startRig } from "./support/rig.js";

const breaker = { backpressureRateThreshold: 80, waitDurationInOpenState: "300ms" };
const alone = (alias: string) => ({ tiers: [alias] });
let rig: Rig;

before(async () => {
  rig = await startRig({
    concurrency: 1,
    ...withBackends({
      told: { breaker },
      untold: { breaker },
      clamped: { breaker },
      "clamped-lower": { breaker: { ...breaker, maxRetryAfter: "7s" } },
      kinds: { breaker: { ...breaker, failureCountThreshold: 1 } },
      plain503: { breaker: { failureCountThreshold: 1 } },
      rare: { breaker: { ...breaker, failureRateThreshold: 35 } },
      streak: { breaker: { consecutiveFailuresThreshold: 3 } },
      late: { breaker: { engineFatal: true, waitDurationInOpenState: "1s" }, chain: alone("late") },
      longer: { breaker: { engineFatal: true }, chain: alone("longer") },
      earlier: { breaker: { engineFatal: true, waitDurationInOpenState: "300ms" } },
    }),
  });
});

after(() => rig?.stop());

const under = (alias: string) => BackendUnderTest.afterReset(rig, alias);

const busy = (status = 429, retryAfter?: string) => ({
  kind: "status" as const,
  status,
  headers: { "content-type": "application/json", ...(retryAfter && { "retry-after": retryAfter }) },
});

/** A 429 that comes late. */
const busyAfter = (waitMs: number, retryAfter: string) => ({
  kind: "raw" as const,
  writes: [
    { waitMs },
    `HTTP/1.1 429 Too Many Requests\r\nretry-after: ${retryAfter}\r\ncontent-length: 0\r\n\r\n`,
  ],
});

async function waitOf(alias: string, retryAfter?: string): Promise<number> {
  const backend = under(alias);
  rig.gpu.mode = busy(429, retryAfter);
  assert.deepEqual(new Set(await backend.chats(4)), new Set(["small"]));
  assert.equal(await backend.state(), OPEN);
  return (await backend.waitForCause("BACKPRESSURE")).waitMs;
}

test("opens for as long as Retry-After asks", async () => {
  const waitMs = await waitOf("told", "20");
  assert.ok(waitMs > 15_000 && waitMs <= 20_000, String(waitMs));
});

test("opens for 15 s when no Retry-After was told", async () => {
  const waitMs = await waitOf("untold");
  assert.ok(waitMs >= 15_000 && waitMs <= 18_000, String(waitMs));
});

test("a Retry-After is believed up to 5 minutes, or what the policy says", async () => {
  const waitMs = await waitOf("clamped", "86400");
  assert.ok(waitMs > 295_000 && waitMs <= 300_000, String(waitMs));
  const lowerMs = await waitOf("clamped-lower", "86400");
  assert.ok(lowerMs > 2_000 && lowerMs <= 7_000, String(lowerMs));
});

test("429, 529 and 503 with Retry-After are backpressure and no failure", async () => {
  const backend = under("kinds");
  const modes = [busy(429), busy(529), busy(503, "30"), busy(503, "Wed, 21 Oct 2035 07:28:00 GMT")];
  rig.gpu.mode = ({ index }) => modes[index] ?? busy(429);
  await backend.chats(4);
  await backend.waitForCause("BACKPRESSURE");
  assert.equal(await backend.counter("outcome.backpressure"), 4);
  assert.equal(await backend.counter("outcome.failure"), 0);
});

test("503 without Retry-After is a failure", async () => {
  const backend = under("plain503");
  rig.gpu.mode = busy(503);
  await backend.chats(1);
  await backend.waitForCause("FAILURE_COUNT");
});

test("neither few calls nor a smaller share open, and backpressure is in no failure rate", async () => {
  const backend = under("rare");
  rig.gpu.mode = busy();
  await backend.chats(3);
  assert.equal(await backend.state(), CLOSED, "3 of 3, below the minimum of 4");
  rig.reset();
  await backend.chats(1);
  assert.equal(await backend.state(), CLOSED, "3 of 4");
  rig.gpu.mode = busy();
  await backend.chats(1);
  assert.equal((await backend.waitForCause("BACKPRESSURE")).to, "OPEN", "4 of 5");
});

test("backpressure between failures does not end their row", async () => {
  const backend = under("streak");
  const failure = { kind: "status" as const, status: 500 };
  rig.gpu.mode = ({ index }) => (index === 2 ? busy() : failure);
  await backend.chats(3);
  assert.equal(await backend.state(), CLOSED);
  await backend.chats(1);
  await backend.waitForCause("CONSECUTIVE_FAILURES");
});

/** Opens `backend` by a dead engine's words while a 429 is on its way. */
async function openAhead(backend: BackendUnderTest, retryAfter: string): Promise<void> {
  rig.gpu.mode = ({ index }) =>
    index === 0 ? busyAfter(700, retryAfter) : { kind: "sseError" as const, at: 0 };
  const refused = backend.chat();
  await waitFor(() => rig.gpu.active === 1, 5_000, "the call that is refused late");
  await backend.chat({ stream: true });
  assert.equal(await backend.state(), OPEN);
  await refused;
  await backend.waitForCounter("outcome.late", 1);
}

const retryAfterOf = async (backend: BackendUnderTest): Promise<number> =>
  Number((await backend.chat()).headers["retry-after"]);

test("a Retry-After that comes late lengthens the wait, and nothing else", async () => {
  const backend = under("late");
  await openAhead(backend, "100");
  // What each worker knew of the wait is over.
  await sleep(1_000);
  const waitS = await retryAfterOf(backend);
  assert.ok(waitS > 90 && waitS <= 100, String(waitS));
  assert.equal(rig.gpu.arrivals.length, 2, "no probe");
  assert.equal(await backend.counter("opened"), 1);
});

test("a shorter Retry-After does not shorten it", async () => {
  const backend = under("longer");
  await openAhead(backend, "4");
  const waitS = await retryAfterOf(backend);
  assert.ok(waitS > 50 && waitS <= 72, String(waitS));
});

test("an opening of another cause lasts until an earlier Retry-After is over", async () => {
  const backend = under("earlier");
  rig.gpu.mode = ({ index }) => (index === 0 ? busy(429, "30") : { kind: "sseError", at: 0 });
  await backend.chats(2, { stream: true });
  const { waitMs } = await backend.waitForCause("ENGINE_FATAL");
  assert.ok(waitMs > 20_000 && waitMs <= 30_000, String(waitMs));
});
