import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Generations } from "../../extproc/generations.js";
import type { Services } from "../../extproc/services.js";

function servicesNamed(name: string, closed: string[]): Services {
  return {
    roles: new Map(),
    limiter: undefined,
    advisors: [],
    signalAges: () => [],
    tracer: undefined,
    admission: () => true,
    close: () => closed.push(name),
  };
}

test("a stream keeps what it began with until it ends", () => {
  const closed: string[] = [];
  const [old, young] = [servicesNamed("a", closed), servicesNamed("b", closed)];
  const generations = new Generations(old);
  const [first, second] = [generations.lease(), generations.lease()];
  generations.swap(young);
  assert.equal(first.services, old);
  assert.equal(generations.lease().services, young);
  first.end();
  assert.deepEqual([closed, generations.count], [[], 2]);
  second.end();
  assert.deepEqual([closed, generations.count], [["a"], 1]);
});

test("what no stream uses is closed at once, the current one never by its streams", () => {
  const closed: string[] = [];
  const generations = new Generations(servicesNamed("a", closed));
  generations.lease().end();
  assert.deepEqual(closed, []);
  generations.swap(servicesNamed("b", closed));
  assert.deepEqual(closed, ["a"]);
});

test("a stream without an end keeps it no longer than the limit", (context: TestContext) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const closed: string[] = [];
  const generations = new Generations(servicesNamed("a", closed), 1000);
  const lease = generations.lease();
  generations.swap(servicesNamed("b", closed));
  context.mock.timers.tick(999);
  assert.deepEqual(closed, []);
  context.mock.timers.tick(1);
  assert.deepEqual(closed, ["a"]);
  lease.end();
  assert.deepEqual(closed, ["a"], "once");
});

test("closes all when the service ends, each once", () => {
  const closed: string[] = [];
  const generations = new Generations(servicesNamed("a", closed));
  const lease = generations.lease();
  generations.swap(servicesNamed("b", closed));
  generations.closeAll();
  lease.end();
  assert.deepEqual(closed.sort(), ["a", "b"]);
});
