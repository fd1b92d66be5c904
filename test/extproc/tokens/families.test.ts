import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ConfigError } from "../../../extproc/config/errors.js";
import { findRepoRoot } from "../../../extproc/root.js";
import { parseConfig } from "../../../extproc/service-config.js";
import { Families, globToRegExp } from "../../../extproc/tokens/families.js";
import { TEMPLATES } from "../../../extproc/tokens/template.js";
import { shippedFamilies } from "../support/families.js";

test("is exact for the models whose template it renders, whatever their organisation and case", () => {
  for (const model of ["qwen3-32b", "Qwen/Qwen3-4B", "qwen3-30b-a3b-fp8", "gpt-4o-mini", "openai/gpt-4.1"]) {
    assert.ok(shippedFamilies().find(model).isExact, model);
  }
});

test("is not exact for relatives and for unknown models", () => {
  for (const model of [
    "qwen2.5-7b-instruct",
    "qwen3-coder-30b",
    "gpt-5",
    "o3",
    "gpt-4o-audio-preview",
    "llama-70b",
    "",
    undefined,
  ]) {
    assert.ok(!shippedFamilies().find(model).isExact, model);
  }
  assert.equal(shippedFamilies().find("gpt-5").template, TEMPLATES.openai);
  assert.equal(shippedFamilies().find("llama-70b").template, TEMPLATES.chatml);
});

test("gives an operator's own tokenizer precedence", () => {
  const file = join(findRepoRoot(), "extproc", "tokens", "vocab", "o200k.json.gz");
  const tokenizers = [{ models: ["llama-*", "qwen3-32b"], file, template: "plain" }];
  const families = Families.load(parseConfig({ tokenizers }));
  assert.equal(families.find("meta/llama-70b").template, TEMPLATES.plain);
  assert.ok(!families.find("Llama-70B").isExact);
  assert.equal(families.find("qwen3-32b").template, TEMPLATES.plain);
  assert.equal(families.find("qwen3-4b").template, TEMPLATES.chatml);
});

test("names the field when a file is no tokenizer", () => {
  const folder = mkdtempSync(join(tmpdir(), "llm-breaker-"));
  try {
    for (const [index, text] of ["", "[]", '{"model":{"type":"BPE"}}'].entries()) {
      const file = join(folder, `${index}.json`);
      writeFileSync(file, text);
      const config = parseConfig({ tokenizers: [{ models: ["x"], file }] });
      assert.throws(
        () => Families.load(config),
        (cause) => cause instanceof ConfigError && cause.message.includes("tokenizers[0].file"),
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("reads only the star of a pattern as special", () => {
  assert.ok(globToRegExp("a.b*").test("a.bcd"));
  assert.ok(!globToRegExp("a.b*").test("axbcd"));
  assert.ok(globToRegExp("*").test(""));
});
