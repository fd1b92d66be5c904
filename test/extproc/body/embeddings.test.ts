import assert from "node:assert/strict";
import { test } from "node:test";
import { assertUnknown, chatIn, completionIn } from "../support/readings.js";

const PATH = "/v1/embeddings";
const NOTHING = { kind: "limited", answers: 0, tokensEach: 0 };

test("sums texts and ids, and asks for no output", () => {
  const read = (input: unknown) => {
    const { texts, idCount, output } = completionIn(PATH, { input });
    assert.deepEqual(output, NOTHING);
    return [texts.length, idCount];
  };
  assert.deepEqual(read("a"), [1, 0]);
  assert.deepEqual(read(Array(2000).fill("x")), [2000, 0]);
  assert.deepEqual(read([1, 2, 3]), [0, 3]);
  assert.deepEqual(read([[1, 2], [3]]), [0, 3]);
});

test("reads objects with a text or a picture, and chats", () => {
  const { texts, media } = completionIn(PATH, { input: [{ text: "a" }, { image: "AAAA" }] });
  assert.deepEqual([texts, media.images], [["a", ""], 1]);
  assert.deepEqual(chatIn(PATH, { messages: [{ role: "user", content: "x" }] }).output, NOTHING);
});

test("knows no size for other shapes", () => {
  assertUnknown(PATH, [{}, { input: [] }, { input: {} }, { input: [{ sound: "x" }] }, { messages: [] }]);
});
