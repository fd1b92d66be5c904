import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { readRecord } from "./backend-record.js";
import { Action } from "./host/abi.js";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { badRequest, recoverToRamp } from "./recovery.js";
import { Worker } from "./worker.js";

const ramp = [{ percent: 100, maxConcurrent: 1, successes: 3 }];
const policy = (breaker = {}): string => policyWith({ ramp, waitDurationInOpenState: "1s", ...breaker });

let world: World;
let worker: Worker;

beforeEach(() => {
  world = new World();
  worker = new Worker(world, policy());
  recoverToRamp(world, worker);
});

const permits = (): number => readRecord(world, "gpu").permits;

/** Who would answer the next small request. */
function nextCluster(): string | undefined {
  return worker.send({ answer: () => badRequest }).attempts[0]?.cluster;
}

/** A canary that has its permit and has not reached a backend. */
function openCanary() {
  const scope = worker.newScope();
  const headers = worker.plainHeaders();
  headers.set("content-length", "100");
  const gate = worker.openGate(scope);
  assert.equal(gate.requestHeaders(headers), Action.hold);
  assert.equal(gate.requestBody(`{"model":"m"}${" ".repeat(87)}`, true), Action.go);
  assert.equal(scope.state("llm.breaker.backend"), "gpu");
  assert.equal(permits(), 1);
  return { scope, headers, gate };
}

describe("HO-3: a permit comes back whatever ends its request", () => {
  test("when the request dies before any backend has seen it", () => {
    const { gate } = openCanary();
    assert.equal(nextCluster(), "small");
    gate.endDownstream();
    assert.equal(permits(), 0);
    assert.equal(readRecord(world, "gpu").state, "HALF_OPEN");
    assert.equal(nextCluster(), "gpu");
  });

  test("when the body never comes to its end", () => {
    const scope = worker.newScope();
    const headers = worker.plainHeaders();
    headers.set("content-length", "500");
    const gate = worker.openGate(scope);
    assert.equal(gate.requestHeaders(headers), Action.hold);
    gate.requestBody('{"model":"m', false);
    gate.endDownstream();
    assert.equal(permits(), 0);
    assert.equal(nextCluster(), "gpu");
  });

  test("when the caller leaves: the gate's end may come before the meter's", () => {
    const { scope, headers, gate } = openCanary();
    const meter = worker.openMeter(scope, "gpu");
    meter.requestHeaders(headers, true);
    meter.context.properties = {
      ...meter.context.properties,
      response: { code_details: "downstream_remote_disconnect" },
    };
    gate.endDownstream();
    assert.equal(permits(), 0);
    const second = openCanary();
    meter.endUpstream();
    assert.equal(permits(), 1, "the late end of the first must not free the second's permit");
    second.gate.endDownstream();
    assert.equal(permits(), 0);
    assert.equal(readRecord(world, "gpu").state, "HALF_OPEN");
  });

  test("when its end never comes, by the permit's own deadline", () => {
    openCanary();
    assert.equal(nextCluster(), "small");
    world.clock.advance(31_000);
    assert.equal(nextCluster(), "gpu");
  });
});

describe("HO-1: an outcome that says nothing gives the permit back", () => {
  test("after any number of bad requests the next canary is still admitted", () => {
    for (let count = 0; count < 20; count++) assert.equal(nextCluster(), "gpu");
    assert.equal(permits(), 0);
    assert.equal(readRecord(world, "gpu").state, "HALF_OPEN");
  });

  test("then three good canaries close the breaker", () => {
    for (let count = 0; count < 5; count++) nextCluster();
    for (let count = 0; count < 3; count++) assert.equal(worker.send().attempts[0]?.cluster, "gpu");
    assert.equal(readRecord(world, "gpu").state, "CLOSED");
  });

  test("and one bad canary opens it again, its caller served by the next tier", () => {
    const answer = worker.send({
      answer: (cluster) => (cluster === "gpu" ? { status: 500, body: ["no"] } : badRequest),
    });
    assert.deepEqual(
      answer.attempts.map((attempt) => attempt.cluster),
      ["gpu", "small"],
    );
    assert.equal(readRecord(world, "gpu").state, "OPEN");
    assert.equal(permits(), 0);
  });
});

test("a prompt over the canary's limit is served elsewhere and takes no permit", () => {
  const body = [
    JSON.stringify({ model: "m", messages: [{ role: "user", content: "x".repeat(4000) }], max_tokens: 8 }),
  ];
  assert.equal(worker.send({ body }).attempts[0]?.cluster, "small");
  assert.equal(permits(), 0);
});
