import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asciiSplitter } from "../../../extproc/tokens/ascii-splitter.js";
import { shippedFile } from "../../../extproc/tokens/template.js";
import { loadVocabulary } from "../../../extproc/tokens/vocabulary.js";

const ascii = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: "binary-ascii", maxLength: 12 }) },
  fc.constantFrom(
    "I'm",
    "WE'LL",
    "they'Ve",
    "'s",
    "'",
    "123456",
    "3.14",
    "  ",
    "\n\n",
    " \r\n\t",
    "\x0b\x0c",
    "\x1c \x7f",
  ),
  fc.constantFrom("x = y**2;", "camelCase", "HTTPServer", "</div>", "a/b/c\n/", "<think>", "don't", "\0"),
);

/** `withMarks` is the library's own way, which splits nothing here; o200k puts no marks around a text. */
for (const name of ["o200k", "cl100k", "qwen3"] as const) {
  test(`counts ASCII by pieces as the library counts the whole with ${name}`, async () => {
    const vocabulary = loadVocabulary(shippedFile(`${name}.json.gz`).file);
    await fc.assert(
      fc.asyncProperty(fc.array(ascii, { maxLength: 12 }), async (parts) => {
        const text = parts.join("");
        assert.equal(await vocabulary.count([text], false), await vocabulary.count([text], true));
      }),
      { numRuns: 1500 },
    );
  });
}

const split = { type: "Split", pattern: { Regex: "\\p{L}+|\\P{L}" }, behavior: "Isolated", invert: false };
const bytes = { type: "ByteLevel", add_prefix_space: false, use_regex: false };
const sequence = (...pretokenizers: unknown[]) => ({ type: "Sequence", pretokenizers });

test("splits ASCII only, and no text that holds a word", () => {
  const splitter = asciiSplitter(sequence(split, bytes), ["<w>"]);
  assert.deepEqual(splitter?.("ab <c"), ["ab", " ", "<", "c"]);
  for (const text of ["é", "a<w>", "x".repeat(20_000)]) assert.equal(splitter?.(text), undefined);
});

test("has no splitter for rules that it can't say", () => {
  const odd = [
    undefined,
    split,
    sequence(split),
    sequence(split, split, bytes),
    sequence({ ...split, behavior: "Removed" }, bytes),
    sequence(split, { ...bytes, use_regex: true }),
    sequence(split, { ...bytes, add_prefix_space: true }),
    sequence({ ...split, pattern: { String: " " } }, bytes),
    sequence({ ...split, pattern: { Regex: "(?i:x)[" } }, bytes),
  ];
  for (const rule of odd) assert.equal(asciiSplitter(rule, []), undefined);
});

test("has no pieces for a text that its rule leaves parts of out", () => {
  const words = { ...split, pattern: { Regex: "\\p{L}+" } };
  assert.equal(asciiSplitter(sequence(words, bytes), [])?.("a b"), undefined);
});
