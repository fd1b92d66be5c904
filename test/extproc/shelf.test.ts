import assert from "node:assert/strict";
import { test } from "node:test";
import { Shelf } from "../../extproc/shelf.js";

function makerOf(closed: number[]): () => { thing: number; close: () => void } {
  let made = 0;
  return () => {
    const thing = ++made;
    return { thing, close: () => closed.push(thing) };
  };
}

test("hands a thing on while its settings are the same, and closes it after its last user", () => {
  const closed: number[] = [];
  const make = makerOf(closed);
  const shelf = new Shelf();
  const first = shelf.open();
  assert.equal(first.take("cache", { bytes: [1] }, make), 1);
  const second = shelf.open();
  assert.equal(second.take("cache", { bytes: [1] }, make), 1);
  first.release();
  first.release();
  assert.deepEqual(closed, []);
  const third = shelf.open();
  assert.equal(third.take("cache", { bytes: [2] }, make), 2);
  second.release();
  assert.deepEqual(closed, [1]);
  third.release();
  assert.deepEqual(closed, [1, 2]);
  assert.equal(shelf.open().take("cache", { bytes: [2] }, make), 3);
});

test("keeps what users of two settings still hold", () => {
  const closed: number[] = [];
  const make = makerOf(closed);
  const shelf = new Shelf();
  const [old, young] = [shelf.open(), shelf.open()];
  old.take("cache", "a", make);
  young.take("cache", "b", make);
  old.release();
  assert.deepEqual(closed, [1]);
  assert.equal(shelf.open().take("cache", "b", make), 2);
});

test("has nothing of a thing that could not be made", () => {
  const shelf = new Shelf();
  const hold = shelf.open();
  const fail = () => {
    throw new Error("no memory");
  };
  assert.throws(() => hold.take("cache", 1, fail), /no memory/);
  hold.release();
  assert.equal(
    shelf.open().take("cache", 1, () => ({ thing: "made" })),
    "made",
  );
});
