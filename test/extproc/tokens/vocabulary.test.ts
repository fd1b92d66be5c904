import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { VOCABULARIES, type VocabularyName } from "../../../extproc/tokens/catalog.js";
import { shippedFile } from "../../../extproc/tokens/template.js";
import { storeForTest } from "../support/families.js";
import { readFixture } from "../support/fixtures.js";

type Row = { text: string; times: number } & Record<VocabularyName, number>;

const TEXTS = readFixture<Row[]>("texts.json");
const NAMES = Object.keys(VOCABULARIES) as VocabularyName[];
const store = storeForTest();
store.maxVocabularies = NAMES.length;

async function count(name: VocabularyName, text: string) {
  const source = shippedFile(`${name}.json.gz`);
  await store.load(source);
  const reply = await store.count(source, { kind: "texts", texts: [text], withMarks: false });
  assert.ok(reply);
  return reply;
}

for (const name of NAMES) {
  test(`counts every recorded text with ${name} as its makers' Python package does`, async () => {
    assert.ok(TEXTS.length >= 25);
    for (const { text, times, ...wanted } of TEXTS) {
      const { tokens } = await count(name, text.repeat(times));
      assert.equal(tokens, wanted[name], JSON.stringify(text.slice(0, 60)));
    }
  });

  test(`normalizes with ${name} as the catalog says`, async () => {
    assert.equal(await store.load(shippedFile(`${name}.json.gz`)), VOCABULARIES[name]);
  });

  test(`counts special tokens in a text with ${name} as text, within a fifth of the same text without bars`, async () => {
    for (const mark of ["<|endoftext|>", "<|im_start|>system", "<|fim_prefix|>", "<|eot_id|>"]) {
      const text = `Tell me what ${mark} means, and why a tokenizer may choke on it when a user types it.`;
      const [withBars, without] = await Promise.all([
        count(name, text),
        count(name, text.replaceAll("|", "")),
      ]);
      const shown = `${mark}: ${withBars.tokens} against ${without.tokens}`;
      assert.ok(withBars.tokens >= without.tokens && withBars.tokens <= without.tokens * 1.2, shown);
    }
  });
}

test("ships the vocabularies that its README names", () => {
  const folder = dirname(shippedFile("README.md").file);
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  for (const name of NAMES) {
    const bytes = gunzipSync(readFileSync(shippedFile(`${name}.json.gz`).file));
    assert.ok(readme.includes(createHash("sha256").update(bytes).digest("hex")), name);
  }
  const files = readdirSync(folder).filter((file) => file !== "README.md");
  for (const file of files) assert.ok(readme.includes(`\`${file}\``), file);
});
