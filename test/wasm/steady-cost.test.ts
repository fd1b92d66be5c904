import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { vmBytesPerStream } from "../../bench/scale/vm-bytes.js";
import { findRepoRoot } from "../support/repo-root.js";
import type { Stream } from "./host/stream.js";
import { World } from "./host/world.js";
import { neverOpens, policyWith } from "./policy.js";
import { type BackendAnswer, Worker } from "./worker.js";

const events = Array.from({ length: 5 }, (_, index) => {
  const finish = index === 4 ? '"stop"' : "null";
  return `data: {"choices":[{"index":0,"delta":{"content":" w${index}"},"finish_reason":${finish}}]}\n\n`;
});
const streamed: BackendAnswer = {
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: [...events, "data: [DONE]\n\n"],
};
const failed: BackendAnswer = { status: 429, headers: { "content-type": "application/json" }, body: ["{}"] };

describe("steady traffic costs the same for ever", () => {
  test("memory does not grow over 100,000 requests, answered whole, streamed, failed over or not at all", () => {
    const world = new World();
    const worker = new Worker(world, policyWith(neverOpens));
    const seen = { answered: 0, failedOver: 0, failed: 0 };
    const round = (count: number): void => {
      const kind = count % 10;
      let answer: ((cluster: string, attempt: number) => BackendAnswer) | undefined;
      if (kind >= 4) answer = () => streamed;
      if (kind >= 7) answer = (_, attempt) => (attempt === 1 ? failed : streamed);
      if (kind === 9 && count % 50 === 9) answer = () => "reset";
      const { status, attempts } = worker.send(answer ? { answer } : {});
      if (status !== 200) seen.failed++;
      else if (attempts.length > 1) seen.failedOver++;
      else seen.answered++;
      if (count % 100 === 0) {
        worker.vm.tick(worker.gate);
        worker.vm.tick(worker.meter);
      }
      world.clock.advance(7);
    };
    for (let count = 0; count < 2_000; count++) round(count);
    worker.vm.growths.clear();
    for (let count = 0; count < 100_000; count++) round(count);
    assert.deepEqual([...worker.vm.growths], []);
    assert.equal(worker.vm.liveContexts, 3);
    assert.ok(Math.min(seen.answered, seen.failedOver) > 20_000 && seen.failed > 1_000, JSON.stringify(seen));
  });

  test("a request makes the same host calls with 5,000 live streams as with none", () => {
    const worker = new Worker(new World(), policyWith());
    worker.send();
    const alone = callsOf(worker, () => worker.send());
    const live = Array.from({ length: 5_000 }, () => openStream(worker));
    const crowded = callsOf(worker, () => worker.send());
    assert.deepEqual(crowded, alone);
    for (const end of live) end();
    assert.equal(worker.vm.liveContexts, 3);
    assert.deepEqual(
      callsOf(worker, () => worker.send()),
      alone,
    );
  });

  test("of more live streams than their table has places each one's end is filed", () => {
    const worker = new Worker(new World(), policyWith());
    // Gate and meter are two contexts each; the table has 16,384 places.
    const live = Array.from({ length: 9_000 }, () => openStream(worker));
    for (const end of live) end();
    worker.flushCounters();
    assert.equal(worker.vm.world.metrics.value("llm_breaker.gpu.outcome.success"), live.length);
  });

  test("live streams that end give their memory to the next ones", () => {
    const worker = new Worker(new World(), policyWith());
    const crowd = (): void => {
      for (const end of Array.from({ length: 5_000 }, () => openStream(worker))) end();
    };
    crowd();
    worker.vm.growths.clear();
    for (let round = 0; round < 10; round++) crowd();
    assert.deepEqual([...worker.vm.growths], []);
  });

  test("a live stream holds 400 bytes at most", () => {
    const bytes = vmBytesPerStream(join(findRepoRoot(), "build"), 10_000);
    assert.ok(bytes <= 400, `${bytes} bytes`);
  });

  test("an event that only passes on makes one host call: its own bytes", () => {
    const worker = new Worker(new World(), policyWith());
    const { meter, end } = openAttempt(worker);
    meter.responseHeaders(worker.headersOf({ ":status": "200", "content-type": "text/event-stream" }));
    meter.responseBody(events[0] ?? "");
    const calls = callsOf(worker, () => meter.responseBody(events[1] ?? ""));
    assert.equal(calls.get("proxy_get_buffer_bytes"), 1);
    const allowed = new Set(["proxy_get_buffer_bytes", "clock_time_get"]);
    assert.deepEqual(
      [...calls.keys()].filter((name) => !allowed.has(name)),
      [],
    );
    end();
  });
});

function callsOf(worker: Worker, work: () => void): Map<string, number> {
  worker.vm.hostCalls.clear();
  work();
  return new Map(worker.vm.hostCalls);
}

function openAttempt(worker: Worker): { meter: Stream; end: () => void } {
  const scope = worker.newScope();
  const headers = worker.plainHeaders();
  const gate = worker.openGate(scope);
  gate.requestHeaders(headers, true);
  const meter = worker.openMeter(scope, "gpu");
  meter.requestHeaders(headers, true);
  return {
    meter,
    end: () => {
      meter.endUpstream();
      gate.endDownstream();
    },
  };
}

/** A stream past its first token; returns what ends it. */
function openStream(worker: Worker): () => void {
  const { meter, end } = openAttempt(worker);
  meter.responseHeaders(worker.headersOf({ ":status": "200", "content-type": "text/event-stream" }));
  meter.responseBody(events[0] ?? "");
  return () => {
    for (const event of events.slice(1)) meter.responseBody(event);
    meter.responseBody("data: [DONE]\n\n", true);
    end();
  };
}
