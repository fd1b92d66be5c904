import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, send } from "../support/client.js";
import { waiting } from "../support/loaded-answer.js";
import { waitFor } from "../support/wait-for.js";
import { type Alias, neverOpen, type Rig, startRig } from "./support/rig.js";
import { clusterOf, type PolicyJson, type ShippedConfig } from "./support/shipped-config.js";

const DEEP = 9;
const tiers = ["gpu", "small", "public"] as const;

let rig: Rig;

before(async () => {
  rig = await startRig({ service: false, concurrency: 2, policy: shedAboveFour, patch: askForLoad });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

function shedAboveFour(policy: PolicyJson): void {
  neverOpen(policy);
  policy.breaker.shedAboveQueueDepth = 4;
}

function askForLoad(config: ShippedConfig): void {
  for (const name of tiers)
    clusterOf(config, name).metadata.filter_metadata["llm.breaker"].loadMetrics = "TEXT";
}

function ask(isBatch: boolean): Promise<Answer> {
  const body = JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content: "hi" }] });
  const host = isBatch ? "batch.llm.internal" : "llm.internal";
  return send(`${rig.url}/v1/chat/completions`, { headers: { host }, body });
}

const backendOf = ({ headers }: Answer) => headers["x-llm-breaker-backend"];

async function backendFor(isBatch: boolean): Promise<unknown> {
  return backendOf(await ask(isBatch));
}

/** Batch work is kept from a backend, or not, by both workers. */
async function waitForBatchAt(backend: string | undefined): Promise<void> {
  const isThere = async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(true)));
    return answers.every((answer) => backendOf(answer) === backend);
  };
  await waitFor(isThere, 7_000, `batch requests at ${backend}`);
}

const upstreamOf = (alias: Alias) => ({ gpu: rig.gpu, small: rig.small, public: rig.public_ })[alias];

/** Every tier's engines tell so many waiting requests, at once. */
async function tell(alias: Alias, requests: number): Promise<void> {
  upstreamOf(alias).mode = waiting(requests);
}

test("those who can wait pass over a long queue, and nobody else does", async () => {
  await waitForBatchAt("gpu");
  await tell("gpu", DEEP);
  assert.equal(await backendFor(false), "gpu");
  await waitForBatchAt("small");
  const before = await Promise.all([rig.counter("gpu", "shed"), rig.counter("small", "diverted")]);
  for (let count = 0; count < 5; count++) {
    assert.equal(await backendFor(false), "gpu");
    assert.equal(await backendFor(true), "small");
  }
  await rig.waitForCounter("gpu", "shed", before[0] + 5);
  await rig.waitForCounter("small", "diverted", before[1] + 5);
  assert.equal(await rig.counter("gpu", "refused"), 0);
  // At the threshold it is not above it.
  await tell("gpu", 4);
  assert.equal(await backendFor(false), "gpu");
  await waitForBatchAt("gpu");
});

test("a queue that nobody has told of for five seconds is long no more", async () => {
  await tell("gpu", DEEP);
  const toldAtMs = performance.now();
  assert.equal(await backendFor(false), "gpu");
  await waitForBatchAt("small");
  await tell("gpu", 0);
  await waitForBatchAt("gpu");
  const tookMs = performance.now() - toldAtMs;
  assert.ok(tookMs > 4_500 && tookMs < 6_500, `after ${tookMs} ms`);
});

test("in failover too", async () => {
  rig.gpu.mode = { kind: "status", status: 500 };
  await tell("small", DEEP);
  assert.equal(await backendFor(false), "small");
  await waitForBatchAt("public");
  const shed = await rig.counter("small", "shed");
  assert.equal(await backendFor(true), "public");
  assert.equal(await backendFor(false), "small");
  await rig.waitForCounter("small", "shed", shed + 1);
});

test("who can wait is told so when every queue is long", async () => {
  for (const alias of tiers) await tell(alias, DEEP);
  assert.equal(await backendFor(false), "gpu");
  rig.gpu.mode = { kind: "reset" };
  assert.equal(await backendFor(false), "small");
  rig.small.mode = { kind: "reset" };
  assert.equal(await backendFor(false), "public");
  for (const alias of tiers) await tell(alias, DEEP);
  await sleep(600);
  const answer = await ask(true);
  assert.equal(answer.status, 503);
  assert.equal(answer.headers["x-llm-breaker-reason"], "shed");
  assert.equal(answer.headers["retry-after"], "1");
  assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_shed");
  assert.equal(await backendFor(false), "gpu");
});
