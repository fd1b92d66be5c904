import assert from "node:assert/strict";
import { readRecord } from "./backend-record.js";
import type { HttpCall } from "./host/http-call.js";
import type { World } from "./host/world.js";
import type { BackendAnswer, Worker } from "./worker.js";

/** Longest first wait of a breaker with `waitDurationInOpenState: "1s"`, jitter included. */
const waitMs = 2_000;

export const completion = '{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}';
export const jsonHead = { ":status": "200", "content-type": "application/json" };

/** An answer that is no evidence for or against a backend. */
export const badRequest: BackendAnswer = {
  status: 400,
  headers: { "content-type": "application/json" },
  body: ["{}"],
};

/** Five failures in a row of gpu; other tiers stay out of it. */
export function openGpu(world: World, worker: Worker): void {
  for (let count = 0; count < 5; count++) {
    worker.send({ answer: (cluster) => (cluster === "gpu" ? { status: 500, body: ["no"] } : badRequest) });
  }
  assert.equal(readRecord(world, "gpu").state, "OPEN");
}

/** Waits until gpu's probe is due and lets `worker` send it. */
export function sendProbe(world: World, worker: Worker): HttpCall {
  world.clock.advance(waitMs);
  const before = world.httpCalls.length;
  worker.vm.tick(worker.gate);
  const probe = world.httpCalls[before];
  assert.ok(probe, "no probe was sent");
  assert.equal(probe.cluster, "gpu");
  return probe;
}

/** Takes gpu through Open and a good probe to the first stage of its ramp. */
export function recoverToRamp(world: World, worker: Worker): void {
  openGpu(world, worker);
  worker.vm.answerHttpCall(sendProbe(world, worker), jsonHead, completion);
  assert.equal(readRecord(world, "gpu").state, "HALF_OPEN");
}
