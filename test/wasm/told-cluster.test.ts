import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { Action } from "./host/abi.js";
import type { HostContext } from "./host/context.js";
import { HeaderMap } from "./host/header-map.js";
import { Stream } from "./host/stream.js";
import { World } from "./host/world.js";
import { neverOpens, policyWith } from "./policy.js";
import { Worker } from "./worker.js";

type Keys = Readonly<Record<string, unknown>>;

const TICK_MS = 250;

let world: World;
let worker: Worker;

beforeEach(() => {
  world = new World();
  worker = new Worker(world, policyWith(neverOpens));
});

/** As Envoy hands a google.protobuf.Struct to a plugin. */
function structOf(keys: Keys): Buffer {
  const field = (number: number, bytes: Buffer): Buffer =>
    Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
  const value = (given: unknown): Buffer =>
    typeof given === "string" ? field(3, Buffer.from(given)) : Buffer.from([0x20, 1]);
  return Buffer.concat(
    Object.entries(keys).map(([key, given]) =>
      field(1, Buffer.concat([field(1, Buffer.from(key)), field(2, value(given))])),
    ),
  );
}

const forms: Readonly<Record<string, (keys: Keys) => string | Buffer>> = {
  "a Struct": structOf,
  JSON: (keys) => `\n${JSON.stringify(keys)}`,
};

function addMeter(configuration: string | Buffer): HostContext {
  const { root, configured } = worker.vm.addRoot("meter", configuration);
  assert.ok(configured, String(worker.vm.logs.at(-1)?.text));
  return root;
}

/** An attempt at the cluster of `meter`, whose metadata are `metadata`. */
function attempt(meter: HostContext, metadata: Keys, headers: Readonly<Record<string, string>> = {}) {
  const scope = worker.newScope();
  const request = worker.plainHeaders();
  for (const [name, value] of Object.entries(headers)) request.set(name, value);
  const gate = worker.openGate(scope);
  gate.requestHeaders(request, true);
  const stream = new Stream(worker.vm, meter, scope);
  stream.context.properties = {
    xds: { cluster_name: "c", cluster_metadata: { filter_metadata: { "llm.breaker": metadata as never } } },
    upstream: { local_address: "127.0.0.1:40000", cx_pool_ready_duration: 1_000_000n },
  };
  worker.vm.hostCalls.clear();
  stream.requestHeaders(request, true);
  const reads = worker.vm.hostCalls.get("proxy_get_property") ?? 0;
  return { request, stream, reads, end: () => [stream.endUpstream(), gate.endDownstream()] };
}

function answered(meter: HostContext, metadata: Keys, status = "200"): void {
  const { stream, end } = attempt(meter, metadata);
  stream.responseHeaders(new HeaderMap({ ":status": status, "content-type": "application/json" }));
  stream.responseBody('{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}', true);
  end();
}

const counted = (name: string): number => {
  worker.flushCounters();
  return world.metrics.value(name);
};

describe("a meter that is told of its cluster", () => {
  const keys = { backend: "gpu", credentials: "own", host: "api.example", pathPrefix: "/openai" };
  const callers = { ":path": "/v1/chat/completions?key=SECRET", authorization: "Bearer caller" };

  for (const [form, write] of Object.entries(forms)) {
    test(`by ${form} starts an attempt as the same metadata would have it, and reads none`, () => {
      const told = attempt(addMeter(write(keys)), { backend: "small" }, callers);
      const read = attempt(worker.meter, keys, callers);
      assert.deepEqual([...told.request.entries], [...read.request.entries]);
      assert.equal(told.request.get(":path"), "/openai/chat/completions");
      assert.equal(told.request.get("authorization"), undefined);
      assert.equal(told.reads, read.reads - 1);
      told.end();
      read.end();
    });
  }

  test("files for that backend, whatever another cluster's meter is told", () => {
    const [gpu, small] = ["gpu", "small"].map((backend) => addMeter(structOf({ backend })));
    assert.ok(gpu && small);
    for (let count = 0; count < 3; count++) answered(small, {});
    answered(gpu, {});
    answered(worker.meter, { backend: "public" });
    assert.deepEqual(
      ["gpu", "small", "public"].map((alias) => counted(`llm_breaker.${alias}.outcome.success`)),
      [1, 3, 1],
    );
  });

  test("refuses what it does not understand, by its name", () => {
    for (const [configuration, told] of [
      [structOf({ backend: "gpu", credential: "own" }), /credential is unknown, or has a value that is/],
      [structOf({ backend: "gpu", credentials: "theirs" }), /credentials is unknown, or has a value that is/],
      [structOf({ backend: "gpu", maxOutputTokens: 12 }), /maxOutputTokens must be a text/],
      ['{"backend":"gpu","maxOutputTokens":12}', /maxOutputTokens must be a text/],
      [structOf({ host: "api.example" }), /backend must name the cluster's backend/],
      ["{}", /backend must name the cluster's backend/],
      ['["gpu"]', /must be an object/],
      ["gpu", /is no JSON/],
      [Buffer.from([0x0a, 0xff, 0xff]), /is no JSON/],
      [Buffer.from([0x0a, 0x00]), /must be a text/],
    ] as const) {
      const { configured } = worker.vm.addRoot("meter", configuration);
      assert.equal(configured, false, String(configuration));
      assert.match(String(worker.vm.logs.at(-1)?.text), told);
    }
  });
});

describe("many meters of one VM", () => {
  const meters = () => Array.from({ length: 200 }, (_, at) => addMeter(structOf({ backend: `b${at}` })));
  const ticking = (roots: readonly HostContext[]) => roots.filter(({ tickPeriodMs }) => tickPeriodMs > 0);

  test("tick once, and go on when the one that ticked is gone", () => {
    const roots = meters();
    assert.deepEqual(ticking([worker.meter, ...roots]), [worker.meter]);
    worker.vm.removeRoot(worker.meter);
    const [next, ...none] = ticking(roots);
    assert.ok(next);
    assert.deepEqual(none, []);
    assert.equal(next.tickPeriodMs, TICK_MS);
    worker.vm.removeRoot(next);
    assert.equal(ticking(roots.filter((root) => root !== next)).length, 1);
  });

  test("the one that ticks keeps the limits of all their attempts", () => {
    const gpu = addMeter(structOf({ backend: "gpu" }));
    answered(gpu, {});
    const { stream, end } = attempt(gpu, {});
    const action = stream.responseHeaders(
      new HeaderMap({ ":status": "200", "content-type": "text/event-stream" }),
    );
    assert.equal(action, Action.hold);
    world.clock.advance(60_000);
    worker.vm.tick(worker.meter);
    assert.deepEqual(stream.context.continued, [1]);
    end();
  });

  test("make a request no dearer", () => {
    const calls = () => {
      worker.vm.hostCalls.clear();
      worker.send();
      return new Map(worker.vm.hostCalls);
    };
    worker.send();
    const alone = calls();
    meters();
    assert.deepEqual(calls(), alone);
  });
});
