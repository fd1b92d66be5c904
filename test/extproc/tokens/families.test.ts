import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ConfigError } from "../../../extproc/config/errors.js";
import { parseConfig } from "../../../extproc/service-config.js";
import { findShipped } from "../../../extproc/tokens/catalog.js";
import { Families, globToRegExp } from "../../../extproc/tokens/families.js";
import { shippedFile } from "../../../extproc/tokens/template.js";
import { storeForTest } from "../support/families.js";

const folder = mkdtempSync(join(tmpdir(), "llm-breaker-"));
after(() => rmSync(folder, { recursive: true }));
const store = storeForTest();

const SMALL = shippedFile("cl100k.json.gz").file;
const NOTHING = { preload: [] };

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const load = (raw: Record<string, unknown>) => Families.load(parseConfig({ tokens: NOTHING, ...raw }), store);

test("knows the families of models, whatever their organisation, case and quantization", () => {
  const exact = {
    "qwen/qwen3-32b": "qwen3",
    "qwen3-30b-a3b-fp8": "qwen3",
    "qwen/qwen2.5-7b-instruct-awq": "qwen2.5",
    "qwen/qwen3-coder-30b-a3b-instruct": "qwen3-coder",
    "meta-llama/meta-llama-3-8b-instruct": "llama3",
    "meta-llama/llama-3.1-8b-instruct": "llama3.1",
    "neuralmagic/meta-llama-3.1-70b-instruct-quantized.w4a16": "llama3.1",
    "meta-llama/llama-3.3-70b-instruct": "llama3.1",
    "meta-llama/llama-3.2-3b-instruct": "llama3.2",
    "deepseek-ai/deepseek-v3-0324": "deepseek-v3",
    "deepseek-ai/deepseek-v3.1": "deepseek-v3.1",
    "mistralai/mistral-nemo-instruct-2407": "mistral-v3",
    "google/gemma-3-27b-it": "gemma3",
    "gpt-4o-mini": "o200k",
    "openai/gpt-4.1": "o200k",
    "gpt-4-0613": "cl100k",
    "gpt-3.5-turbo": "cl100k",
    "text-embedding-3-small": "cl100k",
  };
  for (const [model, family] of Object.entries(exact)) {
    const found = findShipped(model);
    assert.deepEqual([found?.family, found?.isExact], [family, true], model);
  }
});

test("is not exact for relatives", () => {
  const relatives = {
    "qwen3-4b-instruct-2507": "qwen3",
    "qwq-32b": "qwen3",
    "llama3.1:8b": "llama3.1",
    "nousresearch/hermes-3-llama-3.1-8b": "llama3.1",
    "deepseek-ai/deepseek-r1": "deepseek-v3",
    "deepseek-ai/deepseek-r1-distill-llama-70b": "llama3.1",
    "mistralai/mistral-small-24b-instruct-2501": "mistral-v7",
    "mistralai/mistral-small-3.2-24b-instruct-2506": "mistral-v11",
    "google/gemma-2-9b-it": "gemma3",
    "openai/gpt-oss-120b": "gpt-oss",
    "gpt-5": "o200k",
    o3: "o200k",
    "gpt-4o-audio-preview": "o200k",
  };
  for (const [model, family] of Object.entries(relatives)) {
    const found = findShipped(model);
    assert.deepEqual([found?.family, found?.isExact], [family, false], model);
  }
});

test("counts a model that nothing is known of with the default family, never exactly", async () => {
  const families = await load({ tokens: { ...NOTHING, defaultFamily: "cl100k" } });
  for (const model of ["phi-4", "", undefined, "x".repeat(100_000)]) {
    const { template, isExact } = families.find(model);
    assert.deepEqual([template.kind, isExact], ["rule", false]);
  }
});

test("gives what the operator says precedence over the shipped patterns", async () => {
  const config = write(
    "tokenizer_config.json",
    JSON.stringify({ chat_template: "{{ messages[0].content }}" }),
  );
  const families = await load({
    tokenizers: [
      { models: ["our-*"], family: "llama3.1" },
      { models: ["qwen3-32b"], family: "qwen3", template: { file: config } },
      { models: ["llama-*"], file: SMALL, template: "plain" },
    ],
  });
  assert.ok(families.find("acme/Our-70B").isExact);
  const llama = { kind: "file", source: shippedFile("llama3.1.template.json") };
  assert.deepEqual(families.find("our-70b").template, llama);
  const own = families.find("Qwen/Qwen3-32B").template;
  assert.equal(own.kind === "file" && own.source.file, config);
  assert.equal(families.find("meta/llama-70b").template.kind, "rule");
});

test("names the field when a file is no tokenizer or no template", async () => {
  for (const [index, text] of ["", "[]", '{"model":{"type":"BPE"}}'].entries()) {
    const file = write(`${index}.json`, text);
    await assert.rejects(
      load({ tokenizers: [{ models: ["x"], file }] }),
      (cause) => cause instanceof ConfigError && cause.message.includes("tokenizers[0].file"),
    );
  }
  for (const [index, text] of ["", "[]", "{}", '{"chat_template": "{% if %}"}'].entries()) {
    const template = { file: write(`template-${index}.json`, text) };
    await assert.rejects(
      load({ tokenizers: [{ models: ["x"], family: "qwen3", template }] }),
      (cause) => cause instanceof ConfigError && cause.message.includes("tokenizers[0].template.file"),
    );
  }
});

test("wants either a family or a file", () => {
  for (const tokenizer of [{ models: ["x"] }, { models: ["x"], family: "qwen3", file: SMALL }]) {
    assert.throws(
      () => parseConfig({ tokenizers: [tokenizer] }),
      /tokenizers\[0\] must have either family or file/,
    );
  }
});

test("finds a template that stands beside its configuration", async () => {
  const beside = mkdtempSync(join(folder, "model-"));
  writeFileSync(join(beside, "chat_template.jinja"), "{{ messages[0].content }}");
  const file = join(beside, "tokenizer_config.json");
  writeFileSync(file, "{}");
  const families = await load({ tokenizers: [{ models: ["x"], family: "qwen3", template: { file } }] });
  assert.equal(families.find("x").template.kind, "file");
});

test("reads only the star of a pattern as special", () => {
  assert.ok(globToRegExp("a.b*").test("a.bcd"));
  assert.ok(!globToRegExp("a.b*").test("axbcd"));
  assert.ok(globToRegExp("*").test(""));
});
