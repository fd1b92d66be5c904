import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { readRecord } from "./backend-record.js";
import { Action } from "./host/abi.js";
import type { HeaderMap } from "./host/header-map.js";
import type { Stream } from "./host/stream.js";
import { World } from "./host/world.js";
import { neverOpens, policyWith } from "./policy.js";
import { RoutedWorker } from "./routed-worker.js";
import { type BackendAnswer, Worker } from "./worker.js";

// A backend that freezes ends all its attempts in one tick, which has one callback's scratch memory for them.

const crowd = 500;
const limitMs = 5_000;
const tickMs = 250;
const token = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n';

let world: World;
let worker: Worker;

beforeEach(() => {
  world = new World();
});

interface Held {
  readonly meter: Stream;
  readonly answer: HeaderMap;
  readonly nextTier: () => string | undefined;
}

/** An attempt at gpu whose stream has begun, `first` being all that came of it. */
function openHeld(first: string): Held {
  const body = '{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}';
  const scope = worker.newScope();
  const headers = worker.plainHeaders();
  headers.set(":method", "POST");
  headers.set("content-length", String(body.length));
  const gate = worker.openGate(scope);
  gate.requestHeaders(headers);
  assert.equal(gate.requestBody(body, true), Action.go);
  const meter = worker.openMeter(scope, "gpu");
  meter.requestHeaders(headers);
  meter.requestBody(body, true);
  const answer = worker.headersOf({ ":status": "200", "content-type": "text/event-stream" });
  assert.equal(meter.responseHeaders(answer), Action.hold);
  if (first) assert.equal(meter.responseBody(first), Action.hold);
  return { meter, answer, nextTier: () => scope.state("llm.breaker.backend") };
}

const silences: Readonly<Record<string, readonly [chain: Readonly<Record<string, unknown>>, first: string]>> =
  {
    "a first token": [{ firstTokenTimeout: "5s" }, ""],
    "the rest of a held stream": [{ commit: "complete", stallTimeout: "5s" }, token],
  };

describe(`${crowd} attempts that wait for the same frozen backend`, () => {
  for (const [what, [chain, first]] of Object.entries(silences)) {
    test(`for ${what}: each is handed to the next tier, and each is counted`, () => {
      worker = new Worker(world, policyWith(neverOpens, chain));
      worker.vm.tick(worker.meter);
      const held = Array.from({ length: crowd }, () => openHeld(first));
      world.clock.advance(limitMs + tickMs);
      worker.vm.tick(worker.meter);
      const toNext = held.filter(({ nextTier }) => nextTier() === "small").length;
      const retried = held.filter(({ answer }) => answer.get("x-llm-breaker-retry") !== undefined).length;
      const released = held.filter(({ meter }) => meter.context.continued.length === 1).length;
      assert.deepEqual({ toNext, retried, released }, { toNext: crowd, retried: crowd, released: crowd });
      worker.flushCounters();
      assert.equal(readRecord(world, "gpu").failures, crowd);
      assert.equal(world.metrics.value("llm_breaker.gpu.outcome.failure"), crowd);
      assert.equal(world.metrics.value("llm_breaker.gpu.lost_updates"), 0);
    });
  }
});

test("the facts of 150 backends in one tick are all told to the other workers", () => {
  const names = Array.from({ length: 150 }, (_, index) => `b${index}`);
  const policy = JSON.parse(policyWith(neverOpens));
  policy.backends = Object.fromEntries(names.map((name) => [name, {}]));
  policy.chains = { chat: { ...policy.chains.chat, tiers: names.slice(0, 1) } };
  for (const name of names) policy.chains[name] = { ...policy.chains.chat, tiers: [name] };
  const worker = new RoutedWorker(world, JSON.stringify(policy));
  const streamed: BackendAnswer = {
    headers: { ":status": "200", "content-type": "text/event-stream" },
    body: [token, "data: [DONE]\n\n"],
  };
  for (const chain of names) {
    worker.chain = chain;
    worker.send({ answer: () => streamed });
  }
  const isTold = (name: string) => world.shared.peek(`llm.breaker/trend/${name}`) !== undefined;
  assert.equal(names.filter(isTold).length, 0);
  world.clock.advance(tickMs);
  worker.vm.tick(worker.meter);
  assert.equal(names.filter(isTold).length, names.length);
});
