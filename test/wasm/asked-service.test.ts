import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { AskedWorker } from "./asked-worker.js";
import { readRecord } from "./backend-record.js";
import { Action } from "./host/abi.js";
import { Stream } from "./host/stream.js";
import { World } from "./host/world.js";
import { badRequest, recoverToRamp } from "./recovery.js";
import { SyncService } from "./sync-service.js";
import type { Exchange } from "./worker.js";

type Json = Readonly<Record<string, unknown>>;

const forcedOpen = { breaker: { mode: "forcedOpen" } };

let world: World;
let worker: AskedWorker;

beforeEach(() => {
  world = new World();
});

function start(chain: Json, backends: Json = {}, breaker: Json = {}): void {
  const policy = {
    name: "asked",
    service: { cluster: "service" },
    breaker,
    backends: { gpu: {}, small: {}, ...backends },
    chains: { chat: { tiers: ["gpu", "small"], sameTierRetries: 0, ...chain } },
  };
  worker = new AskedWorker(world, JSON.stringify(policy));
  worker.chain = "chat";
}

const stepOf = ({ scope }: Exchange): string | undefined => scope.state("llm.breaker.step");
const limitsOf = ({ scope }: Exchange): string | undefined => scope.state("llm.breaker.limits");
const clustersOf = ({ attempts }: Exchange): string[] => attempts.map(({ cluster }) => cluster);

function chainCounter(name: string): number {
  worker.flushCounters();
  return world.metrics.value(`llm_breaker_chain.chat.${name}`);
}

function counter(name: string): number {
  worker.flushCounters();
  return world.metrics.value(`llm_breaker.${name}`) ?? 0;
}

describe("a chain with limits", () => {
  test("has every POST with a body counted, and nothing else", () => {
    start({ limits: true });
    const post = worker.send();
    assert.deepEqual([stepOf(post), limitsOf(post)], ["count", "1"]);
    const empty = worker.send({ body: [] });
    assert.deepEqual([stepOf(empty), limitsOf(empty)], [undefined, undefined]);
    assert.equal(stepOf(worker.send({ headers: { ":method": "GET" }, body: [] })), undefined);
    assert.equal(stepOf(worker.send({ headers: { ":method": "PUT" } })), undefined);
  });

  test("is told from one that has something counted for another reason", () => {
    start({}, { gpu: { contextWindow: 4 } });
    const exchange = worker.send();
    assert.deepEqual([stepOf(exchange), limitsOf(exchange)], ["count", undefined]);
  });

  test("has it counted too where the body is not looked into", () => {
    start({ limits: true, maxAttempts: 1, peek: false });
    assert.equal(stepOf(worker.send()), "count");
    assert.equal(stepOf(worker.send({ body: [] })), undefined);
  });

  test("asks nobody while the service is away", () => {
    start({ limits: true });
    assert.equal(stepOf(worker.send()), "count");
    world.clock.advance(10_000);
    const exchange = worker.send();
    assert.equal(stepOf(exchange), undefined);
    assert.deepEqual(clustersOf(exchange), ["gpu"]);
    assert.equal(counter("gpu.permitted"), 2);
  });

  test("refuses first where no tier permits: that costs nothing", () => {
    start({ limits: true }, { gpu: forcedOpen, small: forcedOpen });
    const exchange = worker.send();
    assert.equal(exchange.localReply?.details, "llm_breaker_exhausted");
    assert.equal(stepOf(exchange), undefined);
  });

  test("keeps the gate's choice, and counts a request once", () => {
    start({ limits: true }, { gpu: forcedOpen });
    assert.deepEqual(clustersOf(worker.send()), ["small"]);
    assert.deepEqual([counter("gpu.refused"), counter("small.permitted")], [1, 1]);
  });

  test("keeps a fallback out that the prompt would not fit, counted or not", () => {
    start(
      { limits: true, tiers: ["gpu", "small", "large"] },
      { gpu: forcedOpen, small: { contextWindow: 20 }, large: {} },
    );
    const long = [JSON.stringify({ prompt: "x".repeat(200) })];
    assert.deepEqual(clustersOf(worker.send({ body: long })), ["large"]);
    const short = [JSON.stringify({ prompt: "x".repeat(40) })];
    assert.deepEqual(clustersOf(worker.send({ body: short })), ["small"]);
    worker.facts = { promptTokens: 21, exact: true };
    assert.deepEqual(clustersOf(worker.send({ body: short })), ["large"]);
  });

  test("has the service's silence told with the name of its cluster", () => {
    start({ limits: true });
    for (let second = 0; second < 5; second++) {
      worker.vm.tick(worker.gate);
      world.clock.advance(1000);
    }
    const told = worker.vm.logs.filter(({ text }) =>
      text.includes("the service (cluster service) is silent"),
    );
    assert.equal(told.length, 1);
  });

  test("has it told that what answers in the service's place does not know us", () => {
    start({ limits: true });
    for (let second = 0; second < 5; second++) {
      worker.vm.tick(worker.gate);
      const call = world.httpCalls.at(-1);
      if (call) worker.vm.answerHttpCall(call, { ":status": "401" }, Buffer.from("who?"));
      world.clock.advance(1000);
    }
    const told = worker.vm.logs.filter(({ text }) => text.includes("is silent"));
    assert.equal(told.length, 1);
    assert.match(told[0]?.text ?? "", /its last answer, of status 401, was none/);
  });

  test("lets a canary keep the permit that it has by its estimated size", () => {
    const ramp = [{ percent: 100, maxConcurrent: 1, successes: 3 }];
    start({ limits: true }, {}, { canary: { size: "estimate" }, ramp, waitDurationInOpenState: "1s" });
    recoverToRamp(world, worker);
    // The probe's wait has made the service look silent: its pulse is what a worker reads in shared data.
    pulse();
    const exchange = worker.send({ answer: () => badRequest });
    assert.equal(stepOf(exchange), "count");
    assert.deepEqual(clustersOf(exchange), ["gpu"]);
    assert.equal(readRecord(world, "gpu").permits, 0);
  });
});

/** A small chat that the gate has let go. */
function startRequest() {
  const body = '{"model":"m"}';
  const scope = worker.newScope();
  const headers = worker.plainHeaders();
  headers.set("content-length", String(body.length));
  const gate = worker.openGate(scope);
  gate.requestHeaders(headers);
  assert.equal(gate.requestBody(body, true), Action.go);
  return { scope, headers, gate };
}

/** What good answers leave behind. */
function pulse(): void {
  for (let tick = 0; tick < 5; tick++) {
    world.clock.advance(1_100);
    const before = world.httpCalls.length;
    worker.vm.tick(worker.gate);
    for (const call of world.httpCalls.slice(before)) {
      if (call.cluster === "service") new SyncService(world).answer(call);
    }
  }
}

describe("a chain that is exhausted", () => {
  const fixed = { exhausted: { action: "fixed", text: 'Back "soon"\n', status: 299 } };
  const cached = { exhausted: { action: "cached", maxAge: "90s", status: 529 } };
  const allOpen = { gpu: forcedOpen, small: forcedOpen };

  test("hands a request to the service for the operator's text, and has the error for the case it is given back", () => {
    start(fixed, allOpen);
    const exchange = worker.send();
    assert.equal(stepOf(exchange), "reply");
    const order = exchange.scope.filterState.get("llm.breaker.reply")?.toString("utf8") ?? "";
    assert.deepEqual(JSON.parse(order), {
      chain: "chat",
      action: "fixed",
      status: 299,
      text: 'Back "soon"\n',
    });
    assert.equal(exchange.localReply?.details, "llm_breaker_exhausted");
    assert.equal(exchange.status, 503);
    assert.ok(Number(exchange.headers?.get("retry-after")) >= 1);
    assert.deepEqual(["requests", "substituted", "exhausted", "failed"].map(chainCounter), [1, 1, 1, 0]);
  });

  test("does not hold a caller to limits for an answer that costs nothing", () => {
    start({ ...fixed, limits: true }, allOpen);
    const exchange = worker.send();
    assert.deepEqual([stepOf(exchange), limitsOf(exchange)], ["reply", undefined]);
  });

  test("hands it over for a cached answer, too", () => {
    start(cached, allOpen);
    const exchange = worker.send();
    assert.equal(stepOf(exchange), "reply");
    const order = exchange.scope.filterState.get("llm.breaker.reply")?.toString("utf8") ?? "";
    assert.deepEqual(JSON.parse(order), { chain: "chat", action: "cached", maxAgeSeconds: 90 });
    assert.equal(exchange.status, 529);
  });

  for (const [what, settings] of Object.entries({
    "a request without a body": { body: [] },
    "a GET": { headers: { ":method": "GET" }, body: [] },
    "a PUT": { headers: { ":method": "PUT" } },
  })) {
    test(`refuses ${what} by itself`, () => {
      start(fixed, allOpen);
      const exchange = worker.send(settings);
      assert.equal(stepOf(exchange), undefined);
      assert.equal(exchange.status, 503);
    });
  }

  test("refuses at once while the service is away, before any body", () => {
    start(fixed, allOpen);
    assert.equal(stepOf(worker.send()), "reply");
    world.clock.advance(10_000);
    const gate = worker.openGate(worker.newScope());
    gate.requestHeaders(worker.plainHeaders());
    assert.equal(gate.context.localReply?.status, 503);
    gate.endDownstream();
  });

  test("serves a request all the same when a tier permits again by the time it comes back", () => {
    start({ ...fixed, tiers: ["gpu"] }, { gpu: { maxConcurrentCalls: 1 } });
    const busy = startRequest();
    const meter = worker.openMeter(busy.scope, "gpu");
    meter.requestHeaders(busy.headers, false);
    const { scope, headers, gate } = startRequest();
    assert.equal(scope.state("llm.breaker.step"), "reply");
    assert.equal(scope.state("llm.breaker.backend"), undefined);
    meter.endUpstream();
    busy.gate.endDownstream();
    const admit = new Stream(worker.vm, worker.admit, scope);
    assert.equal(admit.requestHeaders(headers), Action.go);
    assert.equal(scope.state("llm.breaker.backend"), "gpu");
    admit.endDownstream();
    gate.endDownstream();
  });

  test("goes to its first tier where the policy says so, as ever", () => {
    start({ exhausted: { action: "bypass" } }, allOpen);
    const exchange = worker.send();
    assert.equal(stepOf(exchange), undefined);
    assert.deepEqual(clustersOf(exchange).slice(0, 1), ["gpu"]);
  });
});
