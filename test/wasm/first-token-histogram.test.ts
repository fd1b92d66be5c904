import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { type BackendAnswer, Worker } from "./worker.js";

const FACTS_ROOM = 64;
const histogram = "llm_breaker.gpu.first_token_ms";
const streamed: BackendAnswer = {
  headers: { ":status": "200", "content-type": "text/event-stream" },
  body: [
    'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n',
    "data: [DONE]\n\n",
  ],
};

let world: World;
let worker: Worker;

beforeEach(() => {
  world = new World();
  worker = new Worker(world, policyWith());
});

const samples = () => world.metrics.samples(histogram);

/** The mock host's connection is ready a millisecond after the attempt began: the clock starts then. */
const POOL_MS = 1;

function call(firstTokenMs: number, promptBytes = 20): void {
  const answer = () => {
    world.clock.advance(firstTokenMs + POOL_MS);
    return streamed;
  };
  worker.send({ answer, body: [JSON.stringify({ stream: true, messages: ["x".repeat(promptBytes)] })] });
}

test("first tokens go into the backend's histogram with the next tick, as they were, and once", () => {
  for (const ms of [5, 120, 4_000]) call(ms);
  assert.deepEqual(samples(), []);
  worker.vm.tick(worker.meter);
  assert.deepEqual(samples(), [5, 120, 4_000]);
  worker.vm.tick(worker.meter);
  assert.equal(samples().length, 3);
  assert.deepEqual(world.metrics.samples("llm_breaker.small.first_token_ms"), []);
});

test("a long prompt's first token is told as long as it took", () => {
  call(3_000, 30_000);
  worker.vm.tick(worker.meter);
  assert.deepEqual(samples(), [3_000]);
});

test("more than a tick can gather is told at once, and none is lost", () => {
  for (let count = 0; count < FACTS_ROOM + 1; count++) call(count);
  assert.equal(samples().length, FACTS_ROOM);
  worker.vm.tick(worker.meter);
  assert.deepEqual(
    [...samples()],
    Array.from({ length: FACTS_ROOM + 1 }, (_, ms) => ms),
  );
});
