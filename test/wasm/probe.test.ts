import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { readRecord } from "./backend-record.js";
import { Action } from "./host/abi.js";
import type { HttpCall } from "./host/http-call.js";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { completion, jsonHead, openGpu, sendProbe } from "./recovery.js";
import { SyncService } from "./sync-service.js";
import { Worker } from "./worker.js";

const policy = policyWith({ waitDurationInOpenState: "1s" });

let world: World;
let workers: Worker[];
let first: Worker;

beforeEach(() => {
  world = new World();
  workers = Array.from({ length: 8 }, () => new Worker(world, policy));
  first = workers[0] as Worker;
  openGpu(world, first);
});

const state = (): string => readRecord(world, "gpu").state;

function tickAll(): void {
  for (const worker of workers) worker.vm.tick(worker.gate);
}

describe("the probe of a backend that was open", () => {
  test("is not sent before the wait is over, and then once over all workers", () => {
    for (let count = 0; count < 3; count++) {
      world.clock.advance(100);
      tickAll();
    }
    assert.equal(world.httpCalls.length, 0);
    world.clock.advance(2_000);
    for (let count = 0; count < 10; count++) {
      tickAll();
      world.clock.advance(250);
    }
    assert.equal(world.httpCalls.length, 1);
    assert.equal(world.metrics.value("llm_breaker.gpu.probes"), 1);
  });

  test("starts the ramp when a token comes back", () => {
    first.vm.answerHttpCall(sendProbe(world, first), jsonHead, completion);
    assert.equal(state(), "HALF_OPEN");
  });

  const bad: Readonly<Record<string, [headers: Record<string, string>, body: string]>> = {
    "a 500": [{ ":status": "500" }, "no"],
    "a 200 with an error in it": [jsonHead, '{"error":{"message":"CUDA error","code":500}}'],
    "a 200 with half an answer": [jsonHead, completion.slice(0, 40)],
    "an empty 200": [jsonHead, ""],
    "no answer at all": [{}, ""],
  };
  for (const [what, [headers, body]] of Object.entries(bad)) {
    test(`opens it again on ${what}`, () => {
      first.vm.answerHttpCall(sendProbe(world, first), headers, body);
      assert.equal(state(), "OPEN");
      const { length } = world.httpCalls;
      world.clock.advance(900);
      tickAll();
      assert.equal(world.httpCalls.length, length, "the second wait is longer than the first");
    });
  }

  test("is nobody's verdict when Envoy could not send it, and is tried again", () => {
    world.onHttpCall = () => false;
    world.clock.advance(2_000);
    tickAll();
    assert.notEqual(state(), "CLOSED");
    assert.equal(world.metrics.value("llm_breaker.gpu.opened"), 1);
    world.onHttpCall = () => true;
    for (let count = 0; count < 60 && world.httpCalls.length === 0; count++) {
      world.clock.advance(250);
      tickAll();
    }
    assert.equal(world.httpCalls.length, 1);
  });

  test("is taken over by another worker when its sender's VM is gone", () => {
    sendProbe(world, first);
    workers = workers.slice(1);
    world.clock.advance(11_000);
    tickAll();
    assert.equal(world.httpCalls.length, 2);
    assert.notEqual(world.httpCalls[1]?.vm, first.vm);
  });

  test("runs through the meter of the same VM while the call is being made, and files nothing as a user's", () => {
    first.flushCounters();
    const before = world.metrics.value("llm_breaker.gpu.outcome.failure");
    world.onHttpCall = (call) => {
      meterProbe(first, call);
      return true;
    };
    const probe = sendProbe(world, first);
    assert.deepEqual(JSON.parse(probe.body.toString()).max_tokens, 1);
    first.vm.answerHttpCall(probe, jsonHead, completion);
    assert.equal(state(), "HALF_OPEN");
    first.flushCounters();
    assert.equal(world.metrics.value("llm_breaker.gpu.outcome.failure"), before);
    assert.equal(first.vm.liveContexts, 3);
  });

  test("waits for the service where its body must be rewritten", () => {
    world = new World();
    const text = JSON.parse(policyWith({ waitDurationInOpenState: "5s" }));
    Object.assign(text, {
      service: { cluster: "service" },
      backends: { ...text.backends, gpu: { rewritesBody: true } },
    });
    first = new Worker(world, JSON.stringify(text));
    const sentTo = (cluster: string) => world.httpCalls.filter((call) => call.cluster === cluster);
    openGpu(world, first);
    for (let count = 0; count < 20; count++) {
      world.clock.advance(1_000);
      first.vm.tick(first.gate);
    }
    assert.equal(sentTo("gpu").length, 0);
    new SyncService(world).answer(sentTo("service").at(-1) as HttpCall);
    world.clock.advance(250);
    first.vm.tick(first.gate);
    assert.equal(sentTo("gpu").length, 1);
  });

  test("cannot be forged: a client's probe header neither passes the gate nor marks an attempt", () => {
    const forged = { "x-llm-breaker-probe": "0".repeat(32) };
    const { attempts } = new Worker(new World(), policyWith()).send({ headers: forged });
    assert.equal(attempts[0]?.headers.get("x-llm-breaker-probe"), undefined);
  });
});

/** The attempt that Envoy makes of a call before the call returns: the cluster's upstream filters run at once. */
function meterProbe(worker: Worker, call: HttpCall): void {
  const meter = worker.openMeter(worker.newScope(), call.cluster);
  const headers = call.headers.clone();
  assert.ok(headers.get("x-llm-breaker-probe"));
  headers.set("x-envoy-internal", "true");
  headers.set("x-envoy-expected-rq-timeout-ms", "8000");
  assert.equal(meter.requestHeaders(headers, false), Action.go);
  const sent = headers.entries.map(([name]) => name).filter((name) => name.startsWith("x-"));
  assert.deepEqual(sent, [], "neither the nonce nor Envoy's own headers reach the backend");
  meter.requestBody(call.body, true);
  meter.endUpstream();
}
