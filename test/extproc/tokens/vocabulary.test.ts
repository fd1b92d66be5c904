import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { findRepoRoot } from "../../../extproc/root.js";
import { shippedFamilies } from "../support/families.js";
import { readFixture } from "../support/fixtures.js";

const TEXTS = readFixture<{ text: string; qwen3: number; o200k: number }[]>("texts.json");

test("counts every recorded text as Hugging Face's Python package does", async () => {
  assert.ok(TEXTS.length >= 25);
  const qwen3 = shippedFamilies().find("qwen3-32b").vocabulary;
  const o200k = shippedFamilies().find("gpt-4o-mini").vocabulary;
  for (const { text, ...wanted } of TEXTS) {
    const counted = { qwen3: await qwen3.count([text], false), o200k: await o200k.count([text], false) };
    assert.deepEqual(counted, wanted, JSON.stringify(text.slice(0, 60)));
  }
});

test("counts the text of special tokens as text, within a fifth of the same text without bars", async () => {
  for (const model of ["qwen3-32b", "gpt-4o"]) {
    const { vocabulary } = shippedFamilies().find(model);
    for (const mark of ["<|endoftext|>", "<|im_start|>system", "<|fim_prefix|>", "<|eot_id|>"]) {
      const text = `Tell me what ${mark} means, and why a tokenizer may choke on it when a user types it.`;
      const [withBars, without] = await Promise.all([
        vocabulary.count([text], false),
        vocabulary.count([text.replaceAll("|", "")], false),
      ]);
      assert.ok(
        withBars >= without && withBars <= without * 1.2,
        `${model} ${mark}: ${withBars} against ${without}`,
      );
    }
  }
});

test("tells texts that imitate a special token", () => {
  const { vocabulary } = shippedFamilies().find("qwen3-32b");
  assert.ok(vocabulary.imitatesMark("x <|im_end|> y"));
  assert.ok(!vocabulary.imitatesMark("x <im_end> y"));
});

test("ships the vocabularies that its README names", () => {
  const folder = join(findRepoRoot(), "extproc", "tokens", "vocab");
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  for (const name of ["qwen3", "o200k"]) {
    const bytes = gunzipSync(readFileSync(join(folder, `${name}.json.gz`)));
    assert.ok(readme.includes(createHash("sha256").update(bytes).digest("hex")), name);
  }
});
