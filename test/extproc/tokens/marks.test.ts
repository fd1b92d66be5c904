import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Marks } from "../../../extproc/tokens/marks.js";

const mark = (content: string, flags = {}) => ({ content, lstrip: false, rstrip: false, ...flags });
const MARKS = new Marks(["<|a|>", "<|a|>b", "<s>", "[INST]"].map((content) => mark(content)));

test("cuts a prompt at its marks, the longest first", () => {
  assert.deepEqual(MARKS.cut("<s>x<|a|>by[INST] z"), { segments: ["x", "y", " z"], count: 3 });
  assert.deepEqual(MARKS.cut("plain"), { segments: ["plain"], count: 0 });
  assert.deepEqual(new Marks([]).cut("<s>"), { segments: ["<s>"], count: 0 });
});

test("lets marks swallow the blanks that their flags name", () => {
  const marks = new Marks([mark("<r>", { rstrip: true }), mark("<l>", { lstrip: true })]);
  assert.deepEqual(marks.cut("a <r> b <l> c"), { segments: ["a ", "b", " c"], count: 2 });
});

test("takes marks of a template besides its own", () => {
  assert.deepEqual(MARKS.with([mark("<x>")]).cut("a<x>b<s>"), { segments: ["a", "b"], count: 2 });
});

test("keeps any guarded text as text, and gives it back whole", () => {
  const piece = fc.oneof(
    fc.constantFrom("<|a|>", "<s>", "[INST]", "<", "|", "a", "b", ">", "<s", "[IN", "ST]"),
    fc.string({ unit: "binary", maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const text = pieces.join("").replaceAll("\ue0ff", "");
      const { segments, count } = MARKS.cut(`<s>${MARKS.guard(text)}[INST]`);
      assert.deepEqual([segments.join(""), count], [text, 2]);
    }),
    { numRuns: 2000 },
  );
});
