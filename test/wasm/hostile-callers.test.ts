import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { readRecord } from "./backend-record.js";
import { Action } from "./host/abi.js";
import type { Stream } from "./host/stream.js";
import { World } from "./host/world.js";
import { neverOpens, policyWith } from "./policy.js";
import { type BackendAnswer, Worker } from "./worker.js";

// Callers whose long prompts or slow reading look like a backend's fault.

const tickMs = 250;
const streamHead = { ":status": "200", "content-type": "text/event-stream" };
const tokenOf = (bytes: number) =>
  `data: {"choices":[{"index":0,"delta":{"content":"${"x".repeat(bytes)}"}}]}\n\n`;

let world: World;
let worker: Worker;

beforeEach(() => {
  world = new World();
});

function tick(): void {
  world.clock.advance(tickMs);
  worker.vm.tick(worker.meter);
}

const state = () => readRecord(world, "gpu").state;
const chatOf = (promptBytes: number) =>
  `{"model":"m","stream":true,"messages":[{"role":"user","content":"${"w".repeat(promptBytes)}"}]}`;

describe("prompts of many sizes on a healthy backend", () => {
  const streamed: BackendAnswer = { headers: streamHead, body: [tokenOf(1), "data: [DONE]\n\n"] };
  const longPrompt = 35_000;

  /** Only a drift can open it. */
  function start(breaker: Readonly<Record<string, unknown>> = {}): void {
    const off = {
      slowCallRateThreshold: 0,
      consecutiveSlowCallsThreshold: 0,
      failureRateThreshold: 0,
      consecutiveFailuresThreshold: 0,
    };
    worker = new Worker(world, policyWith({ ...off, ...breaker }));
  }

  /** First tokens come after `baseMs` and this much for each byte of the prompt. */
  function calls(
    count: number,
    promptBytes: (index: number) => number,
    msPerByte: number,
    baseMs = 20,
  ): void {
    for (let index = 0; index < count; index++) {
      const bytes = promptBytes(index);
      worker.send({
        body: [chatOf(bytes)],
        answer: (cluster) => {
          if (cluster === "gpu") world.clock.advance(Math.round(baseMs + bytes * msPerByte));
          return streamed;
        },
      });
      if (index % 10 === 9) tick();
    }
    tick();
  }

  for (const every of [12, 3]) {
    test(`one in ${every} that is long, after short ones, is no drift`, () => {
      start();
      calls(120, () => 2, 0.0133);
      calls(300, (index) => (index % every === 0 ? longPrompt : 2), 0.0133);
      assert.equal(state(), "CLOSED");
      assert.ok(readRecord(world, "gpu").successes > 0);
    });
  }

  test("that come to be long, all of them, are no drift", () => {
    start();
    calls(120, () => 2, 0.0133);
    calls(300, () => longPrompt, 0.0133);
    assert.equal(state(), "CLOSED");
  });

  test("all long ones whose first tokens come four times as late are one", () => {
    // Samples count for ten minutes, and here one takes up to 16 s.
    start({ latencyDriftMinimumSamples: 20 });
    calls(120, () => longPrompt, 0.1, 500);
    assert.equal(state(), "CLOSED");
    calls(120, () => longPrompt, 0.4, 2_000);
    assert.equal(state(), "OPEN");
    assert.ok(worker.vm.logs.some(({ text }) => text.includes("LATENCY_DRIFT")));
  });
});

describe("a caller that reads nothing, of a stream that is slow enough to be forgiven", () => {
  const stallMs = 30_000;
  const answerMs = 240_000;
  const limits = { stallTimeout: "30s", answerTimeout: "240s" };
  let meter: Stream;

  /** A stream whose first token has been passed on, or is held under commit complete. */
  function open(chain: Readonly<Record<string, unknown>> = {}): void {
    worker = new Worker(world, policyWith(neverOpens, { ...limits, ...chain }));
    worker.vm.tick(worker.meter);
    const scope = worker.newScope();
    const headers = worker.plainHeaders();
    headers.set(":method", "POST");
    const gate = worker.openGate(scope);
    gate.requestHeaders(headers);
    gate.requestBody(chatOf(2), true);
    meter = worker.openMeter(scope, "gpu");
    meter.requestHeaders(headers);
    meter.requestBody(chatOf(2), true);
    assert.equal(meter.responseHeaders(worker.headersOf(streamHead)), Action.hold);
  }

  function flow(seconds: number, bytesASecond: number): void {
    for (let count = 0; count < seconds * 4; count++) {
      meter.responseBody(tokenOf(bytesASecond / 4 - 55));
      tick();
    }
  }

  /** What Envoy does once its buffers are full looks like this to the filter: nothing more comes. */
  function silence(ms: number): void {
    for (let passed = 0; passed <= ms; passed += tickMs) tick();
  }

  const isEnded = () => meter.context.closed.length > 0;
  const outcomes = () => {
    worker.flushCounters();
    const value = (name: string) => world.metrics.value(`llm_breaker.gpu.outcome.${name}`);
    return { failure: value("failure"), neutral: value("neutral") };
  };

  test("is ended, and is nobody's failure once Envoy's buffers may be full", () => {
    open();
    // 3 MB at 60 tokens of 300 bytes a second.
    flow(170, 18_000);
    assert.ok(!isEnded());
    silence(stallMs + 1_000);
    assert.ok(isEnded());
    assert.deepEqual(outcomes(), { failure: 0, neutral: 1 });
  });

  test("cannot be what a short stream stopped by", () => {
    open();
    flow(50, 18_000);
    silence(stallMs + 1_000);
    assert.ok(isEnded());
    assert.deepEqual(outcomes(), { failure: 1, neutral: 0 });
  });

  test("has what was held before him, too: its silence lasts as long as an answer may take", () => {
    open({ commit: "complete" });
    for (let count = 0; count < 12; count++) meter.responseBody(tokenOf(100_000));
    assert.ok(meter.passed.length > 0, "more than is held");
    silence(stallMs + 1_000);
    assert.ok(!isEnded());
    silence(answerMs - stallMs);
    assert.ok(isEnded());
    assert.deepEqual(outcomes(), { failure: 0, neutral: 1 });
  });
});
