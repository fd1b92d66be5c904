import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { plainChat } from "../../../extproc/body/chat.js";
import { readBodyFacts } from "../../../extproc/body/facts.js";
import { Marks } from "../../../extproc/tokens/marks.js";
import { PromptCounter } from "../../../extproc/tokens/prompt-counter.js";
import { shippedFile } from "../../../extproc/tokens/template.js";

const FOLDER = dirname(shippedFile("README.md").file);
const TEMPLATES = readdirSync(FOLDER).filter((name) => name.endsWith(".template.json"));

/** Every character is a token. */
const letters = {
  normalization: "none" as const,
  marks: new Marks([{ content: "<|im_end|>", lstrip: false, rstrip: false }]),
  count: async (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0),
};

const counter = new PromptCounter(letters);

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "<|im_end|>",
    "</think>",
    "<tool_response>",
    "{{ x }}",
    "{% endfor %}",
    "\ue0ff",
    "__proto__",
  ),
);
const message = fc.record({
  role: fc.constantFrom("system", "user", "assistant", "tool", "developer", "function", "critic"),
  content: fc.oneof(
    text,
    fc.constant(null),
    fc.array(fc.record({ type: fc.constant("text"), text }), { maxLength: 3 }),
  ),
  tool_calls: fc.option(
    fc.array(
      fc.record({
        id: text,
        type: fc.constant("function"),
        function: fc.record({ name: text, arguments: fc.oneof(text, fc.jsonValue()) }),
      }),
      { maxLength: 3 },
    ),
    { nil: undefined },
  ),
});
const body = fc.record({
  messages: fc.array(message, { minLength: 1, maxLength: 6 }),
  tools: fc.option(
    fc.array(
      fc.oneof(
        fc.jsonValue(),
        fc.record({
          type: fc.constant("function"),
          function: fc.record({ name: text, parameters: fc.jsonValue() }),
        }),
      ),
      { maxLength: 3 },
    ),
    { nil: undefined },
  ),
});

test("counts any chat with any template, and never throws", async () => {
  await fc.assert(
    fc.asyncProperty(body, fc.constantFrom(...TEMPLATES), async (given, name) => {
      const { prompt } = readBodyFacts("/v1/chat/completions", given);
      if (prompt?.kind !== "chat") return;
      const template = { file: join(FOLDER, name), version: "1" };
      const { tokens } = await counter.count({ kind: "chat", chat: prompt.chat, template });
      assert.ok(Number.isInteger(tokens) && tokens >= 0);
    }),
    { numRuns: 500 },
  );
});

test("counts a template of an operator's, its tokens and what it leaves out", async () => {
  const folder = mkdtempSync(join(tmpdir(), "llm-breaker-"));
  after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "tokenizer_config.json");
  const source = "{{ bos_token }}{% for m in messages %}[{{ m.content }}]{% endfor %}";
  writeFileSync(file, JSON.stringify({ chat_template: source, bos_token: { content: "<b>" } }));
  const template = { file, version: "1" };
  const user = { role: "user", text: "hi", toolCalls: [] };
  const chat = plainChat([user]);
  assert.deepEqual(await counter.count({ kind: "chat", chat, template }), { tokens: 7, isExact: true });
  const withTool = { ...chat, tools: [{ a: 1 }] };
  assert.deepEqual(await counter.count({ kind: "chat", chat: withTool, template }), {
    tokens: 15,
    isExact: false,
  });
});
