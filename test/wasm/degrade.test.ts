import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import fc from "fast-check";
import { AttemptedRequest } from "./attempt.js";
import { HeaderMap } from "./host/header-map.js";
import { World } from "./host/world.js";
import { opensOn, policyWith } from "./policy.js";
import { recoverToRamp } from "./recovery.js";
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
function hear(headers: Readonly<Record<string, string>>): void {
  world.clock.advance(1_001);
  worker.vm.tick(worker.gate);
  const call = world.httpCalls.findLast(({ cluster }) => cluster === "service");
  assert.ok(call, "the service was not asked");
  worker.vm.answerHttpCall(call, { ":status": "200", ...headers });
  world.clock.advance(201);
}

describe("how a backend fares at an attempt's start", () => {
  test("is told only where the cluster asks for it", () => {
    assert.equal(told({ backend: "gpu", model: "m" }), undefined);
    assert.equal(told(), "no");
  });

  test("is the service's word of its queue, until the word is old", () => {
    hear({ "x-llm-breaker-degrade": "small, gpu" });
    assert.equal(told(), "queue");
    assert.equal(told({ ...degradable, backend: "public" }), "no");
    world.clock.advance(4_000);
    assert.equal(told(), "queue");
    world.clock.advance(1_000);
    assert.equal(told(), "no");
  });

  test("follows the last word", () => {
    hear({ "x-llm-breaker-degrade": "gpu" });
    assert.equal(told(), "queue");
    hear({});
    assert.equal(told(), "no");
  });

  test("heeds no list above 512 bytes, and traps on none", () => {
    hear({ "x-llm-breaker-degrade": `gpu,${"x".repeat(508)}` });
    assert.equal(told(), "queue");
    hear({ "x-llm-breaker-degrade": `gpu,${"x".repeat(509)}` });
    assert.equal(told(), "no");
    const list = fc.string({ unit: fc.constantFrom(..."gpu,  \u00ff"), maxLength: 600 });
    fc.assert(
      fc.property(list, (names) => {
        hear({ "x-llm-breaker-degrade": names });
        const isNamed =
          names.length <= 512 && names.split(",").some((name) => name.replace(/^ +| +$/g, "") === "gpu");
        assert.equal(told(), isNamed ? "queue" : "no");
      }),
    );
  });

  test("is half-open for a canary, whatever its queue", () => {
    recoverToRamp(world, worker);
    hear({ "x-llm-breaker-degrade": "gpu" });
    const request = new AttemptedRequest(worker, "{}");
    assert.equal(request.scope.state("llm.breaker.backend"), "gpu");
    const meter = request.start(degradable);
    assert.equal(request.scope.state("llm.breaker.degrade"), "half-open");
    meter.endUpstream();
    request.end();
  });

  test("is told anew for each attempt", () => {
    hear({ "x-llm-breaker-degrade": "gpu" });
    const request = new AttemptedRequest(worker, "{}");
    request.start(degradable).endUpstream();
    request.start({ ...degradable, backend: "small" }).endUpstream();
    assert.equal(request.scope.state("llm.breaker.degrade"), "no");
    request.end();
  });
});
