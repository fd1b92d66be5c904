import assert from "node:assert/strict";
import { test } from "node:test";
import { World } from "./host/world.js";
import { SyncedProcess, syncedPolicy } from "./synced-process.js";
import type { BackendAnswer } from "./worker.js";

const minuteMs = 60_000;
const usualMs = 400;
const streamed: BackendAnswer = {
  headers: { ":status": "200", "content-type": "text/event-stream" },
  body: [
    'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n',
    "data: [DONE]\n\n",
  ],
};

function streamedCalls({ world, worker }: SyncedProcess, count: number, firstTokenMs: number): void {
  const answer = () => {
    world.clock.advance(firstTokenMs);
    return streamed;
  };
  for (let call = 0; call < count; call++) worker.send({ answer });
}

/** Times are known within a bin of the histogram. */
function isNear(told: number | undefined, ms: number): void {
  assert.ok(told !== undefined && told > ms * 0.84 && told < ms * 1.19, `${told} is not about ${ms}`);
}

test("the service is told of first tokens of late, what drift is judged by, and its baseline", () => {
  const process = new SyncedProcess(new World(), syncedPolicy());
  const told = () => {
    process.wait(2_000);
    return process.service.report("gpu").latency;
  };
  assert.equal(told(), null);
  streamedCalls(process, 100, usualMs);
  const usual = told();
  assert.ok(usual, "nothing is told");
  assert.deepEqual([usual.samples, usual.judgedPercentile], [100, 95]);
  for (const key of ["p50Ms", "p99Ms", "judgedMs", "baselineMs"]) isNear(usual[key], usualMs);
  streamedCalls(process, 10, usualMs * 2);
  const slower = told();
  assert.equal(slower?.samples, 110);
  isNear(slower?.p50Ms, usualMs);
  for (const key of ["p99Ms", "judgedMs"]) isNear(slower?.[key], usualMs * 2);
  isNear(slower?.baselineMs, usualMs);
  process.wait(11 * minuteMs);
  assert.equal(told(), null);
});

test("from 300 first tokens on the 99th percentile is told as judged, once it has a baseline", () => {
  const process = new SyncedProcess(new World(), syncedPolicy());
  const judged = () => {
    process.wait(2_000);
    return process.service.report("gpu").latency?.judgedPercentile;
  };
  streamedCalls(process, 299, 100);
  assert.equal(judged(), 95);
  process.wait(minuteMs);
  for (let round = 0; round < 4; round++) {
    streamedCalls(process, 100, 100);
    process.wait(2_000);
  }
  assert.equal(judged(), 99);
});
