import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import fc from "fast-check";
import { World } from "./host/world.js";
import { OfferedWorker } from "./offered-worker.js";
import { neverOpens, policyWith } from "./policy.js";
import type { BackendAnswer } from "./worker.js";

type Json = Readonly<Record<string, unknown>>;

const load = "endpoint-load-metrics";
const body = ['{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}'];

let world: World;
let worker: OfferedWorker;

beforeEach(() => {
  world = new World();
  world.clock.advance(60_000);
  start();
});

function start(breaker: Json = {}, more: Json = {}): void {
  const policy = JSON.parse(policyWith({ ...neverOpens, shedAboveQueueDepth: 4, ...breaker }));
  worker = new OfferedWorker(world, JSON.stringify({ ...policy, ...more }));
  for (const backend of ["gpu", "small", "public"]) worker.loadMetrics.set(backend, "TEXT");
}

function telling(header: string | Buffer): BackendAnswer {
  const told = [load, typeof header === "string" ? header : header.toString("latin1")] as const;
  return { status: 200, headers: [["content-type", "application/json"], told], body };
}

/** A request of a class; who answers it, and tells of that many waiting. */
function send(routeClass?: string, waiting?: number): string | undefined {
  worker.routeClass = routeClass;
  const answer = waiting === undefined ? telling("TEXT x=1") : telling(`TEXT waiting=${waiting}`);
  return worker.send({ answer: () => answer }).attempts[0]?.cluster;
}

function tell(waiting: number): void {
  send(undefined, waiting);
  tick();
}

function tick(): void {
  world.clock.advance(250);
  worker.tick();
}

describe("a long queue", () => {
  test("keeps those who can wait away, as soon as every worker knows of it", () => {
    const other = new OfferedWorker(world, policyWith({ ...neverOpens, shedAboveQueueDepth: 4 }));
    assert.equal(send("batch", 9), "gpu");
    tick();
    other.tick();
    for (const each of [worker, other]) {
      each.routeClass = "batch";
      assert.equal(each.send().attempts[0]?.cluster, "small");
      each.routeClass = "vip";
      assert.equal(each.send().attempts[0]?.cluster, "gpu");
      each.routeClass = undefined;
      assert.equal(each.send().attempts[0]?.cluster, "gpu");
    }
    other.flushCounters();
    assert.equal(worker.offered("gpu").shed, 2);
    assert.equal(worker.offered("small").diverted, 2);
  });

  test("is one above the threshold, and none after five seconds", () => {
    tell(4);
    assert.equal(send("batch"), "gpu");
    tell(5);
    assert.equal(send("batch"), "small");
    world.clock.advance(4_500);
    worker.tick();
    assert.equal(send("batch"), "small");
    world.clock.advance(300);
    worker.tick();
    assert.equal(send("batch"), "gpu");
  });

  test("matters to the classes that the policy names", () => {
    start({}, { shedClasses: ["free", "nightly"] });
    tell(9);
    assert.deepEqual(
      ["batch", "free", "nightly", "fre"].map((each) => send(each)),
      ["gpu", "small", "small", "gpu"],
    );
    start({}, { shedClasses: [] });
    tell(9);
    assert.equal(send("batch"), "gpu");
  });

  test("matters nothing where the threshold is off, or the breaker may not refuse", () => {
    for (const breaker of [{ shedAboveQueueDepth: 0 }, { mode: "disabled" }, { mode: "forcedClosed" }]) {
      start(breaker);
      tell(9);
      assert.equal(send("batch"), "gpu", JSON.stringify(breaker));
      assert.equal(worker.offered("gpu").shed, undefined);
    }
  });

  test("is counted and nothing more in shadow mode", () => {
    start({ mode: "shadow" });
    tell(9);
    assert.equal(send("batch"), "gpu");
    assert.deepEqual([worker.offered("gpu").shed, worker.offered("gpu").permitted], [1, 2]);
  });

  test("of every tier is told with a second to wait", () => {
    for (const first of ["gpu", "small", "public"]) {
      const reset = new Set(["gpu", "small", "public"].slice(0, ["gpu", "small", "public"].indexOf(first)));
      worker.routeClass = undefined;
      worker.send({ answer: (cluster) => (reset.has(cluster) ? "reset" : telling("TEXT waiting=9")) });
    }
    tick();
    worker.routeClass = "batch";
    const { status, headers, localReply, body: told, attempts } = worker.send();
    assert.deepEqual([status, attempts.length, localReply?.details], [503, 0, "llm_breaker_shed"]);
    assert.deepEqual([headers?.get("x-llm-breaker-reason"), headers?.get("retry-after")], ["shed", "1"]);
    assert.equal(JSON.parse(told.toString()).error.code, "llm_breaker_shed");
    worker.flushCounters();
    const chain = ["shed", "exhausted"].map((name) => world.metrics.value(`llm_breaker_chain.chat.${name}`));
    assert.deepEqual(chain, [1, 0]);
    assert.deepEqual(
      ["gpu", "small", "public"].map((each) => worker.offered(each).shed),
      [1, 1, 1],
    );
  });
});

describe("what it costs", () => {
  const callsOf = (): [string, number][] => {
    worker.vm.hostCalls.clear();
    send("batch");
    return [...worker.vm.hostCalls].sort();
  };

  test("a request pays nothing for thresholds and classes while no queue is long", () => {
    // The first success of all is filed at once.
    send("batch");
    start();
    worker.loadMetrics.clear();
    const set = callsOf();
    start({ shedAboveQueueDepth: 0 }, { shedClasses: [] });
    worker.loadMetrics.clear();
    assert.deepEqual(callsOf(), set);
  });

  test("and one look at its route when one is", () => {
    tell(9);
    const before = new Map(callsOf());
    world.clock.advance(6_000);
    worker.tick();
    const after = new Map(callsOf());
    const looks = (before.get("proxy_get_property") ?? 0) - (after.get("proxy_get_property") ?? 0);
    assert.equal(looks, 1);
  });
});

test("no header of a backend's makes it trap, or tells more than a figure", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "TEXT ",
      "JSON ",
      "waiting",
      "=",
      ":",
      ",",
      "1e",
      "-",
      ".",
      '"',
      "{",
      "}",
      "nan",
      "9".repeat(40),
    ),
    fc.string({ maxLength: 8 }),
  );
  const header = fc.oneof(
    fc.array(piece, { maxLength: 30 }).map((pieces) => Buffer.from(pieces.join(""), "utf8")),
    fc.uint8Array({ maxLength: 6_000 }).map((bytes) => Buffer.from(bytes)),
  );
  fc.assert(
    fc.property(header, (bytes) => {
      const { status, headers } = worker.send({ answer: () => telling(bytes) });
      tick();
      assert.deepEqual([status, headers?.get(load)], [200, undefined]);
    }),
    { numRuns: 300 },
  );
  assert.equal(worker.vm.liveContexts, 3);
});
