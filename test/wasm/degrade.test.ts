import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { AttemptedRequest } from "./attempt.js";
import { HeaderMap } from "./host/header-map.js";
import { World } from "./host/world.js";
import { opensOn, policyWith } from "./policy.js";
import { recoverToRamp } from "./recovery.js";
import { SyncService } from "./sync-service.js";
import { Worker } from "./worker.js";

let world: World;
let worker: Worker;

const degradable = { backend: "gpu", degradedMaxOutputTokens: "256" };

beforeEach(() => {
  world = new World();
  const ramp = [{ percent: 100, maxConcurrent: 2, successes: 5 }];
  const policy = JSON.parse(policyWith({ ...opensOn(5), waitDurationInOpenState: "1s", ramp }));
  worker = new Worker(world, JSON.stringify({ ...policy, service: { cluster: "service" } }));
});

function told(
  metadata: Readonly<Record<string, string>> & { backend: string } = degradable,
): string | undefined {
  const request = new AttemptedRequest(worker, "{}");
  const meter = request.start(metadata);
  meter.responseHeaders(new HeaderMap({ ":status": "400" }), true);
  meter.endUpstream();
  request.end();
  return request.scope.state("llm.breaker.degrade");
}

/** The service's word, a second later, as all workers then know it. */
function hear(long: readonly string[]): void {
  world.clock.advance(1_001);
  worker.vm.tick(worker.gate);
  const service = new SyncService(world);
  const signals = (name: string) => ({ isFresh: true, isQueueLong: long.includes(name) });
  service.answer(
    service.last.call,
    ["gpu", "small", "public"].map((name) => ({ name, signals: signals(name) })),
  );
}

/** Time passes, as each VM's tick sees it. */
function wait(elapsedMs: number): void {
  world.clock.advance(elapsedMs);
  worker.vm.tick(worker.meter);
}

describe("how a backend fares at an attempt's start", () => {
  test("is told only where the cluster asks for it", () => {
    assert.equal(told({ backend: "gpu", model: "m" }), undefined);
    assert.equal(told(), "no");
  });

  test("is the service's word of its queue, until the word is old", () => {
    hear(["small", "gpu"]);
    assert.equal(told(), "queue");
    assert.equal(told({ ...degradable, backend: "public" }), "no");
    wait(4_900);
    assert.equal(told(), "queue");
    wait(200);
    assert.equal(told(), "no");
  });

  test("follows the last word", () => {
    hear(["gpu"]);
    assert.equal(told(), "queue");
    hear([]);
    assert.equal(told(), "no");
  });

  test("is half-open for a canary, whatever its queue", () => {
    recoverToRamp(world, worker);
    hear(["gpu"]);
    const request = new AttemptedRequest(worker, "{}");
    assert.equal(request.scope.state("llm.breaker.backend"), "gpu");
    const meter = request.start(degradable);
    assert.equal(request.scope.state("llm.breaker.degrade"), "half-open");
    meter.endUpstream();
    request.end();
  });

  test("is told anew for each attempt", () => {
    hear(["gpu"]);
    const request = new AttemptedRequest(worker, "{}");
    request.start(degradable).endUpstream();
    request.start({ ...degradable, backend: "small" }).endUpstream();
    assert.equal(request.scope.state("llm.breaker.degrade"), "no");
    request.end();
  });
});
