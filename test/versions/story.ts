// The main path on one version of Envoy: ENVOY_VERSION, else the one the shipped files are made for. `main.ts` runs it on
// each version we promise. What a version cannot do is asserted too: the caller then gets a JSON error, or the upstream's own.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { type Alias, type Rig, startRig } from "../e2e/support/rig.js";
import { type Answer, type ChatSettings, chat as send, sseData } from "../support/client.js";
import { loadGetEnvoy } from "../support/get-envoy.js";
import type { Mode } from "../support/upstream-mode.js";
import { forOlderEnvoy } from "./older-envoy.js";

const { envoyBinary, isOlder, versionOf } = await loadGetEnvoy();
const version = versionOf(await envoyBinary()) ?? "";
/** A retry may go to another cluster. */
const canFailOver = !isOlder(version, "1.39.0");
/** An answer whose body was looked at may be retried at all; 1.36 would crash (filter/host/envoy-version.ts). */
const canRetryHeld = !isOlder(version, "1.37.0");

const callersKey = "Bearer CALLERS";
const ourPublicKey = "Bearer demo-public-api-key";
const failing: Mode = { kind: "status", status: 500 };
/** As an engine says it when one request failed, and not the engine. */
const requestError = { message: "the request could not be served", type: "InternalServerError", code: 500 };

let rig: Rig;

before(async () => {
  rig = await startRig({
    policy: ({ breaker }) => {
      // Opened by failures in a row alone: every test begins with a good answer. Long enough for a look at Open.
      Object.assign(breaker, { consecutiveFailuresThreshold: 5, failureRateThreshold: 0 });
      Object.assign(breaker, { waitDurationInOpenState: "3s", maxWaitDurationInOpenState: "3s" });
    },
    patch: (config) => {
      if (!canFailOver) Object.assign(config, forOlderEnvoy({ ...config }));
    },
  });
});

beforeEach(async () => {
  rig.reset();
  await chat();
  rig.reset();
});

afterEach(() => {
  for (const { headers } of [...rig.gpu.arrivals, ...rig.small.arrivals]) {
    assert.ok(
      headers.authorization === undefined || headers.authorization === callersKey,
      "a key has leaked",
    );
  }
  for (const { headers } of rig.public_.arrivals) assert.equal(headers.authorization, ourPublicKey);
});

after(() => rig?.stop());

function chat(settings: ChatSettings = {}): Promise<Answer> {
  return send(rig.url, { ...settings, headers: { authorization: callersKey } });
}

/** Never empty, never text: JSON with a message, or an event that holds it. */
function assertTellsError(answer: Answer): void {
  const isStream = answer.headers["content-type"] === "text/event-stream";
  const told = isStream ? sseData(answer.text).find((line) => line.includes('"error"')) : answer.text;
  assert.equal(typeof JSON.parse(told ?? "").error.message, "string", answer.text);
  if (!isStream) assert.ok(answer.status >= 500, `status ${answer.status}`);
}

function assertServedBy(answer: Answer, alias: string): void {
  assert.equal(answer.status, 200, answer.text);
  assert.ok(answer.complete);
  assert.equal(answer.headers["x-llm-breaker-backend"], alias);
}

function assertNotBare(answer: Answer): void {
  if (answer.status !== 200) assertTellsError(answer);
}

/** The next tier's answer where a retry may go there; else an error that can be read. Tier 1 gets `attempts` either way. */
function assertFailedOver(answer: Answer, attempts: number): void {
  if (canFailOver) assertServedBy(answer, "small");
  else assertTellsError(answer);
  assert.deepEqual(rig.hits, [attempts, canFailOver ? 1 : 0, 0]);
}

/** By its log: before 1.39 the meter's gauge stands below the cluster's name, apart from the gate's. */
function stateOf(alias: Alias): string {
  return rig.transitions(alias).at(-1)?.to ?? "CLOSED";
}

async function failUntilOpen(alias: Alias): Promise<void> {
  for (let call = 0; call < 10 && stateOf(alias) !== "OPEN"; call++) assertNotBare(await chat());
  assert.equal(stateOf(alias), "OPEN");
}

test("this is a version of Envoy that we promise", () => {
  assert.match(version, /^\d+\.\d+\.\d+$/);
});

test("in-flight failover is on, or the log says that it is off", async () => {
  if (!canFailOver) await rig.envoy.waitForLog(/in-flight failover is off/);
  else assert.deepEqual(rig.envoy.log.matching(/in-flight failover is off/), []);
});

test("the minimal file runs as it is shipped", async () => {
  const minimal = await startRig({ file: "minimal" });
  try {
    assert.equal((await send(minimal.url, { stream: true })).status, 200);
    assert.equal(minimal.gpu.arrivals.length, 1);
  } finally {
    await minimal.stop();
  }
});

test("an answer in one piece passes", async () => {
  const answer = await chat();
  assertServedBy(answer, "gpu");
  assert.equal(JSON.parse(answer.text).choices[0].message.content, "Hello.");
});

test("a stream passes as it comes", async () => {
  rig.gpu.mode = { kind: "sse", events: 12, gapMs: 60 };
  let chunks = 0;
  const answer = await chat({ stream: true, onData: () => chunks++ });
  assertServedBy(answer, "gpu");
  assert.equal(sseData(answer.text).at(-1), "[DONE]");
  assert.ok(chunks >= 8, `${chunks} chunks`);
  assert.ok((answer.firstByteMs ?? 9e9) < answer.totalMs / 2, `first byte after ${answer.firstByteMs} ms`);
});

test("one reset of a request of 1.5 MB is made good by the same tier's second try, with the whole body", async () => {
  rig.gpu.mode = ({ index }) => ({ kind: index === 0 ? "reset" : "ok" });
  // Few tokens for its bytes, so that the primary's context window holds it.
  const answer = await chat({ prompt: `${" ".repeat(200)}x\n`.repeat(7_430) });
  assertServedBy(answer, "gpu");
  assert.deepEqual(rig.hits, [2, 0, 0]);
  const [first, second] = rig.gpu.arrivals;
  assert.ok((first?.bodyBytes ?? 0) > 1_500_000);
  assert.equal(second?.bodySha256, first?.bodySha256);
});

test("one 500 is made good by the same tier's second try, or is the caller's to see", async () => {
  rig.gpu.mode = ({ index }) => (index === 0 ? failing : { kind: "ok" });
  const answer = await chat();
  if (canRetryHeld) assertServedBy(answer, "gpu");
  else assert.equal(JSON.parse(answer.text).error.message, "status 500");
  assert.deepEqual(rig.hits, [canRetryHeld ? 2 : 1, 0, 0]);
});

test("a 4xx for the caller passes untouched", async () => {
  const body = '{"error":{"message":"not with us","code":"content_filter"}}';
  rig.gpu.mode = { kind: "status", status: 400, body };
  const answer = await chat();
  assert.equal(answer.status, 400);
  assert.equal(answer.text, body);
});

test("500 for ever: the next tier, or the primary's own answer", async () => {
  rig.gpu.mode = failing;
  const answer = await chat();
  assertFailedOver(answer, canRetryHeld ? 2 : 1);
  if (!canFailOver) assert.equal(JSON.parse(answer.text).error.message, "status 500");
});

test("a reset for ever: the next tier, or JSON", async () => {
  rig.gpu.mode = { kind: "reset" };
  assertFailedOver(await chat(), 2);
});

test("no answer at all: the next tier, or JSON, after one limit and one attempt", async () => {
  rig.gpu.mode = { kind: "hang" };
  const answer = await chat({ stream: true });
  assertFailedOver(answer, 1);
  assert.ok(answer.totalMs < 2_500, `answered after ${answer.totalMs} ms`);
});

test("headers and then no token: the next tier, or JSON, after one limit and one attempt", async () => {
  rig.gpu.mode = { kind: "ttft", ms: 3_000 };
  const answer = await chat({ stream: true });
  assertFailedOver(answer, 1);
  assert.ok(answer.totalMs < 2_500, `answered after ${answer.totalMs} ms`);
});

test("an error as the first event of a 200: the next tier, or the error itself", async () => {
  rig.gpu.mode = { kind: "sseError", at: 0, error: requestError };
  const answer = await chat({ stream: true });
  assertFailedOver(answer, 1);
});

for (const how of ["rst", "clean"] as const) {
  test(`a stream that ends in the middle (${how}) is seen to be broken`, async () => {
    rig.gpu.mode = { kind: "cut", at: 5, how, gapMs: 10 };
    const answer = await chat({ stream: true });
    assert.equal(answer.status, 200);
    assert.match(answer.text, /token0/);
    assert.equal(answer.complete, false);
    assert.deepEqual(rig.hits, [1, 0, 0]);
  });
}

test("an open primary is passed over at admission, its model's name rewritten, and comes back by a probe and canaries", async () => {
  rig.gpu.mode = failing;
  await failUntilOpen("gpu");
  rig.reset();
  const answer = await chat();
  assertServedBy(answer, "small");
  assert.deepEqual(rig.hits, [0, 1, 0]);
  assert.equal(JSON.parse(rig.small.arrivals[0]?.body.toString() ?? "").model, "qwen3-4b");

  await rig.waitForCause("PROBE_SUCCEEDED");
  const deadline = performance.now() + 15_000;
  while (stateOf("gpu") !== "CLOSED") {
    assert.ok(performance.now() < deadline, "not closed within 15 s");
    assert.equal((await chat()).status, 200);
  }
  const causes = rig.transitions().map(({ cause }) => cause);
  assert.deepEqual(causes.slice(-3), ["WAIT_OVER", "PROBE_SUCCEEDED", "RAMP_COMPLETE"]);
  assertServedBy(await chat(), "gpu");
});

test("two open tiers: the public one gets our key, host and model; three: JSON with the wait to come", async () => {
  rig.gpu.mode = failing;
  rig.small.mode = failing;
  await failUntilOpen("gpu");
  await failUntilOpen("small");
  rig.public_.reset();
  assertServedBy(await chat(), "public");
  const arrival = rig.public_.arrivals[0];
  assert.equal(arrival?.headers.host, "api.example.com");
  assert.equal(JSON.parse(arrival?.body.toString() ?? "").model, "gpt-4o-mini");

  rig.public_.mode = failing;
  for (let call = 0; call < 10; call++) {
    const answer = await chat({ stream: call % 2 === 0 });
    assertTellsError(answer);
    if (answer.headers["x-llm-breaker-reason"] !== "exhausted") continue;
    assert.equal(answer.status, 503);
    assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_exhausted");
    assert.ok(Number(answer.headers["retry-after"]) >= 1);
    return;
  }
  assert.fail("not refused after ten failures");
});
