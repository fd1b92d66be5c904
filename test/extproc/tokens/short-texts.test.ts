import assert from "node:assert/strict";
import { test } from "node:test";
import { ShortTexts } from "../../../extproc/tokens/short-texts.js";

test("adds up what it knows and gives back the rest in order", () => {
  const short = new ShortTexts();
  short.learn("a", 1);
  short.learn("", 0);
  assert.deepEqual(short.count(["b", "a", "", "a", "c"]), { tokens: 2, others: ["b", "c"] });
});

test("keeps neither long texts nor more than some thousands", () => {
  const short = new ShortTexts();
  const long = "x".repeat(25);
  short.learn(long, 1);
  assert.deepEqual(short.count([long]).others, [long]);
  for (let index = 0; index <= 4096; index++) short.learn(String(index), 1);
  const all = Array.from({ length: 4097 }, (_, index) => String(index));
  assert.equal(short.count(all).tokens, 1);
});
