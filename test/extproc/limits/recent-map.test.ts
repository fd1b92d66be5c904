import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentMap } from "../../../extproc/limits/recent-map.js";

test("keeps what was used within the period", () => {
  const map = new RecentMap<string>(1000, 100, 0);
  map.set("a", "first", 0);
  assert.equal(map.get("a", 999), "first");
  assert.equal(map.get("a", 1998), "first");
  assert.equal(map.get("a", 2997), "first");
});

test("forgets what nobody used for two periods", () => {
  const map = new RecentMap<string>(1000, 100, 0);
  map.set("a", "first", 0);
  map.get("b", 1000);
  map.get("b", 2000);
  assert.equal(map.get("a", 2001), undefined);
  assert.equal(map.size, 0);
});

test("a pause of any length forgets everything", () => {
  const map = new RecentMap<string>(1000, 100, 0);
  map.set("a", "first", 0);
  assert.equal(map.get("a", 10_000), undefined);
});

test("never holds more than its room, and drops the least active first", () => {
  const map = new RecentMap<number>(1000, 100, 0);
  for (let i = 0; i < 1000; i++) {
    map.set(`key ${i}`, i, 1);
    map.get("key 0", 1);
    assert.ok(map.size <= 100);
  }
  assert.equal(map.get("key 0", 1), 0);
  assert.equal(map.get("key 999", 1), 999);
  assert.equal(map.get("key 1", 1), undefined);
});
