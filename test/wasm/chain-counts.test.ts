import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { World } from "./host/world.js";
import { OfferedWorker } from "./offered-worker.js";
import { neverOpens, policyWith } from "./policy.js";
import { badRequest } from "./recovery.js";

type Json = Readonly<Record<string, unknown>>;

let world: World;
let worker: OfferedWorker;

beforeEach(() => {
  world = new World();
});

const forcedOpen = { breaker: { mode: "forcedOpen" } };
const allOpen = { backends: { gpu: forcedOpen, small: forcedOpen, public: forcedOpen } };

function start(chain: Json = {}, more: Json = {}, breaker: Json = {}): void {
  worker = new OfferedWorker(world, JSON.stringify({ ...JSON.parse(policyWith(breaker, chain)), ...more }));
}

/** The chain's counts, zeros left out. */
function counts(): Json {
  worker.flushCounters();
  const names = ["requests", "exhausted", "shed", "substituted", "failed"];
  const entries = names.map((name) => [name, world.metrics.value(`llm_breaker_chain.chat.${name}`)] as const);
  return Object.fromEntries(entries.filter(([, count]) => count > 0));
}

test("a request that a tier serves, at once or in failover, has not failed", () => {
  start({}, {}, neverOpens);
  worker.send();
  worker.send({ answer: (cluster) => (cluster === "gpu" ? { status: 500, body: ["no"] } : badRequest) });
  assert.deepEqual(counts(), { requests: 2 });
});

test("what is wrong with the request itself is no failure of the chain", () => {
  start();
  assert.equal(worker.send({ answer: () => badRequest }).status, 400);
  assert.deepEqual(counts(), { requests: 1 });
});

test("a request that all tiers fail has failed once", () => {
  start({}, {}, neverOpens);
  worker.send({ answer: () => ({ status: 500, body: ["no"] }) });
  assert.deepEqual(counts(), { requests: 1, failed: 1 });
});

test("a request that no tier may answer finds the chain exhausted", () => {
  start({}, allOpen);
  for (let times = 0; times < 3; times++) assert.equal(worker.send().status, 503);
  assert.deepEqual(counts(), { requests: 3, exhausted: 3 });
});

test("who is sent to a refusing tier for want of better is served", () => {
  start({ exhausted: { action: "bypass" } }, allOpen);
  worker.send();
  assert.deepEqual(counts(), { requests: 1 });
});
