import assert from "node:assert/strict";
import { test } from "node:test";
import { Status } from "./abi.js";
import { HeaderMap } from "./header-map.js";
import { MetricStore } from "./metric-store.js";
import { marshalPairs, unmarshalPairs } from "./pairs.js";
import { lookUp, serialize } from "./properties.js";
import { SharedStore } from "./shared-store.js";
import { World } from "./world.js";

test("a write with an outdated CAS is refused, one with CAS 0 goes through, one to an absent key always", () => {
  const store = new SharedStore();
  assert.equal(store.set("k", Buffer.from("a"), 0xffffffff), Status.ok);
  const read = store.get("k");
  assert.equal(store.set("k", Buffer.from("b"), read?.cas ?? 0), Status.ok);
  assert.equal(store.set("k", Buffer.from("c"), read?.cas ?? 0), Status.casMismatch);
  assert.equal(store.set("k", Buffer.from("d"), 0), Status.ok);
  assert.equal(store.peek("k")?.toString(), "d");
  assert.equal(store.mismatches, 1);
});

test("a module that imports what Envoy does not offer is refused, each import named", () => {
  // (module (import "env" "proxy_clear_route_cache" (func)))
  const name = Buffer.from("proxy_clear_route_cache");
  const entry = Buffer.concat([
    Buffer.from([1, 3]),
    Buffer.from("env"),
    Buffer.from([name.length]),
    name,
    Buffer.from([0, 0]),
  ]);
  const head = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 2, entry.length]);
  const world = new World(new WebAssembly.Module(Buffer.concat([head, entry])));
  assert.throws(() => world.addVm(), /does not offer env\.proxy_clear_route_cache/);
});

test("header maps keep order and duplicates, read the first value and replace them all", () => {
  const map = new HeaderMap([
    ["Cookie", "a"],
    ["x", "1"],
    ["cookie", "b"],
  ]);
  assert.equal(map.get("COOKIE"), "a");
  assert.equal(map.size, 3);
  map.set("cookie", "c");
  assert.deepEqual(map.entries, [
    ["x", "1"],
    ["cookie", "c"],
  ]);
});

test("pairs survive marshalling, and sizes that lie are an error", () => {
  const pairs = [
    [Buffer.from("a"), Buffer.from("\xff\0", "latin1")] as const,
    [Buffer.alloc(0), Buffer.alloc(0)] as const,
  ];
  const bytes = marshalPairs(pairs);
  assert.deepEqual(unmarshalPairs(bytes), pairs);
  bytes.writeUInt32LE(1000, 4);
  assert.throws(() => unmarshalPairs(bytes), RangeError);
});

test("properties are found by path and serialized by kind", () => {
  const tree = {
    xds: { cluster_metadata: { filter_metadata: { "llm.breaker": { backend: "gpu" } } } },
    n: 3,
    ok: true,
  };
  assert.equal(lookUp(tree, "xds\0cluster_metadata\0filter_metadata\0llm.breaker\0backend"), "gpu");
  assert.equal(lookUp(tree, "xds\0nothing\0here"), undefined);
  assert.equal(serialize(3).readDoubleLE(), 3);
  assert.equal(serialize(3n).readBigInt64LE(), 3n);
  assert.deepEqual([...serialize(true)], [1]);
  assert.deepEqual(unmarshalPairs(serialize({ a: "b" })), [[Buffer.from("a"), Buffer.from("b")]]);
});

test("equal metric names are one metric", () => {
  const metrics = new MetricStore();
  const id = metrics.define("calls");
  metrics.add(id, 2n);
  assert.equal(metrics.define("calls"), id);
  assert.equal(metrics.value("calls"), 2);
  assert.equal(metrics.add(99, 1n), false);
});
