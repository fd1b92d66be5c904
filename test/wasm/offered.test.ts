import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { Action } from "./host/abi.js";
import { Stream } from "./host/stream.js";
import { World } from "./host/world.js";
import { type Offered, OfferedWorker } from "./offered-worker.js";
import { neverOpens, policyWith } from "./policy.js";
import { badRequest, openGpu, recoverToRamp } from "./recovery.js";

type Json = Readonly<Record<string, unknown>>;

let world: World;
let worker: OfferedWorker;

beforeEach(() => {
  world = new World();
});

function start(breaker: Json = {}, chain: Json = {}, more: Json = {}): void {
  worker = new OfferedWorker(world, JSON.stringify({ ...JSON.parse(policyWith(breaker, chain)), ...more }));
}

/** What has come to the three tiers since `work` began. */
function during(work: () => void): Offered[] {
  const before = all();
  work();
  return all().map((now, tier) => {
    const changes = Object.entries(now).map(([name, count]) => {
      return [name, count - (before[tier]?.[name as keyof Offered] ?? 0)] as const;
    });
    return Object.fromEntries(changes.filter(([, change]) => change !== 0));
  });
}

const all = (): Offered[] => ["gpu", "small", "public"].map((alias) => worker.offered(alias));

const forced = (alias: string, more: Json = {}): Json => ({
  backends: { gpu: {}, small: {}, public: {}, [alias]: { breaker: { mode: "forcedOpen" } }, ...more },
});

describe("each request is counted once at each tier that it comes to", () => {
  test("where it is served", () => {
    start();
    assert.deepEqual(
      during(() => worker.send()),
      [{ permitted: 1 }, {}, {}],
    );
  });

  test("where it is refused, also by what this worker remembers of the opening", () => {
    start({ waitDurationInOpenState: "60s" });
    openGpu(world, worker);
    const counts = during(() => {
      for (let count = 0; count < 3; count++) worker.send({ answer: () => badRequest });
    });
    assert.deepEqual(counts, [{ refused: 3 }, { permitted: 3, diverted: 3 }, {}]);
  });

  test("however long its body takes, and how often it is chosen for anew meanwhile", () => {
    start({}, {}, forced("gpu"));
    const counts = during(() => {
      const scope = worker.newScope();
      const headers = worker.plainHeaders();
      const gate = worker.openGate(scope);
      assert.equal(gate.requestHeaders(headers), Action.hold);
      for (let part = 0; part < 4; part++) {
        world.clock.advance(1_000);
        gate.requestBody(part < 3 ? " " : '{"model":"m"}', part === 3);
      }
      gate.endDownstream();
    });
    assert.deepEqual(counts, [{ refused: 1 }, { permitted: 1, diverted: 1 }, {}]);
  });

  test("when the tier that would take it is too small for its prompt", () => {
    start({}, {}, forced("gpu", { small: { contextWindow: 4 } }));
    const counts = during(() => worker.send());
    assert.deepEqual(counts, [{ refused: 1 }, {}, { permitted: 1, diverted: 1 }]);
  });

  test("when no tier takes it", () => {
    const closed = { breaker: { mode: "forcedOpen" } };
    start({}, {}, { backends: { gpu: closed, small: closed, public: closed } });
    const counts = during(() => assert.equal(worker.send().status, 503));
    assert.deepEqual(counts, [{ refused: 1 }, { refused: 1 }, { refused: 1 }]);
  });

  test("as served when it goes to a refusing tier for want of better", () => {
    const closed = { breaker: { mode: "forcedOpen" } };
    start(
      {},
      { exhausted: { action: "bypass" } },
      { backends: { gpu: closed, small: closed, public: closed } },
    );
    const counts = during(() => worker.send());
    assert.deepEqual(counts, [{ permitted: 1 }, { refused: 1 }, { refused: 1 }]);
  });

  test("as served when it is a half-open tier's canary, and as refused when it is not", () => {
    const ramp = [{ percent: 100, maxConcurrent: 1, successes: 9 }];
    start({ ramp, waitDurationInOpenState: "1s" });
    recoverToRamp(world, worker);
    const canary = during(() => worker.send());
    assert.deepEqual(canary, [{ permitted: 1 }, {}, {}]);
    const body = `{"model":"m","messages":[{"role":"user","content":"${"long ".repeat(500)}"}]}`;
    const large = during(() => worker.send({ body: [body] }));
    assert.deepEqual(large, [{ refused: 1 }, { permitted: 1, diverted: 1 }, {}]);
  });

  test("when there is no room, and when the service that it needs is away", () => {
    const backends = { gpu: { maxConcurrentCalls: 1 }, small: { rewritesBody: true }, public: {} };
    start({}, {}, { backends, service: { cluster: "service" } });
    const scope = worker.newScope();
    const headers = worker.plainHeaders();
    const gate = worker.openGate(scope);
    gate.requestHeaders(headers, true);
    const meter = worker.openMeter(scope, "gpu");
    meter.requestHeaders(headers, true);
    worker.tick();
    world.clock.advance(4_000);
    worker.tick();
    const counts = during(() => worker.send());
    assert.deepEqual(counts, [{ limited: 1 }, { refused: 1 }, { permitted: 1, diverted: 1 }]);
    meter.endUpstream();
    gate.endDownstream();
  });

  test("in failover: at the next tier, at those that it passes, and at none twice", () => {
    start({ ...neverOpens }, {}, forced("small"));
    const answer = (cluster: string) => (cluster === "gpu" ? { status: 500, body: ["no"] } : badRequest);
    assert.deepEqual(
      during(() => worker.send({ answer })),
      [{ permitted: 1 }, { refused: 1 }, { permitted: 1, diverted: 1 }],
    );
    start({ ...neverOpens }, {}, forced("gpu"));
    const later = (cluster: string) => (cluster === "small" ? { status: 500, body: ["no"] } : badRequest);
    assert.deepEqual(
      during(() => worker.send({ answer: later })),
      [{ refused: 1 }, { permitted: 1, diverted: 1 }, { permitted: 1, diverted: 1 }],
    );
  });

  test("as attempts, when the same tier is asked again", () => {
    start({ ...neverOpens }, { sameTierRetries: 1 }, forced("gpu"));
    const counts = during(() => {
      worker.send({ answer: (_, attempt) => (attempt === 1 ? { status: 500, body: ["no"] } : badRequest) });
    });
    assert.deepEqual(counts, [{ refused: 1 }, { permitted: 2, diverted: 1 }, {}]);
  });

  test("when the service was asked first, whether it answers or not", () => {
    start({}, { limits: true }, { ...forced("gpu"), service: { cluster: "service" } });
    assert.deepEqual(
      during(() => worker.send()),
      [{ refused: 1 }, { permitted: 1, diverted: 1 }, {}],
    );
    const limited = during(() => {
      const headers = worker.plainHeaders();
      headers.set("content-length", "13");
      const gate = new Stream(worker.vm, worker.gate, worker.newScope());
      gate.requestHeaders(headers);
      gate.requestBody('{"model":"m"}', true);
      gate.endDownstream();
    });
    assert.deepEqual(limited, [{}, {}, {}], "whom his limits refuse came to no tier");
  });
});

test("in shadow mode what would have been refused is counted as served too", () => {
  start({ mode: "shadow", waitDurationInOpenState: "60s" });
  openGpu(world, worker);
  const counts = during(() => worker.send({ answer: () => badRequest }));
  assert.deepEqual(counts, [{ permitted: 1, refused: 1 }, {}, {}]);
});
