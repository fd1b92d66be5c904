import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { upperBoundTokens } from "../../../extproc/tokens/upper-bound.js";
import { shippedFamilies, storeForTest } from "../support/families.js";

const nfcBytes = (text: string) => Buffer.byteLength(text.normalize("NFC"));

test("holds for the NFC form of every single character", () => {
  for (let code = 1; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    assert.ok(nfcBytes(character) <= upperBoundTokens(character, "nfc"), code.toString(16));
  }
});

test("holds for the NFC and NFKC forms of mixed text, with marks that reorder and recompose", () => {
  const piece = fc.constantFrom(
    "a",
    "á",
    "ự",
    "\u0323",
    "\u0301",
    "\u0344",
    "\u0958",
    "각",
    "\u11a8",
    "中",
    "\ufb2c",
    "\ufdfa",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string({ unit: "binary" })), { maxLength: 30 }), (pieces) => {
      const text = pieces.join("");
      assert.ok(nfcBytes(text) <= upperBoundTokens(text, "nfc"));
      assert.ok(Buffer.byteLength(text.normalize("NFKC")) <= upperBoundTokens(text, "other"));
    }),
    { numRuns: 2000 },
  );
});

const store = storeForTest();

test("is never below what the shipped tokenizers count", async () => {
  const families = await shippedFamilies(store, ["qwen3", "gpt-oss", "llama3", "gemma3"]);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 60 }), async (text) => {
      for (const model of ["qwen3-32b", "gpt-4o", "llama-3.1-8b-instruct", "gemma-3-4b-it"]) {
        const { vocabulary } = families.find(model);
        const reply = await vocabulary.count({ kind: "texts", texts: [text], withMarks: false });
        assert.ok(reply && reply.tokens <= upperBoundTokens(text, vocabulary.normalization));
      }
    }),
  );
});
