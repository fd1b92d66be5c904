import assert from "node:assert/strict";
import { test } from "node:test";
import { assertUnknown, chatIn } from "../support/readings.js";

const PATH = "/v1/responses";
const chat = (body: Record<string, unknown>) => chatIn(PATH, body);

test("reads a text, with its instructions before it", () => {
  const read = chat({ input: "hi", instructions: "Be short.", max_output_tokens: 9 });
  assert.deepEqual(read.chat.messages, [
    { role: "system", text: "Be short.", toolCalls: [] },
    { role: "user", text: "hi", toolCalls: [] },
  ]);
  assert.deepEqual(read.output, { kind: "limited", answers: 1, tokensEach: 9 });
});

test("reads items: messages, calls, their outputs, thoughts", () => {
  const { chat: read, media } = chat({
    input: [
      { role: "user", content: [{ type: "input_text", text: "a" }, { type: "input_image" }] },
      { type: "reasoning", summary: [{ type: "summary_text", text: "s" }], content: null },
      { type: "function_call", name: "f", arguments: "{}", call_id: "1" },
      { type: "custom_tool_call", name: "c", input: "in" },
      { type: "function_call_output", call_id: "1", output: "done" },
      { type: "custom_tool_call_output", output: [{ type: "output_text", text: "too" }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "b" }] },
    ],
  });
  assert.deepEqual(
    read.messages.map(({ role, text, toolCalls }) => [role, text, toolCalls.length]),
    [
      ["user", "a", 0],
      ["assistant", "", 2],
      ["tool", "done", 0],
      ["tool", "too", 0],
      ["assistant", "b", 0],
    ],
  );
  assert.equal(read.messages[1]?.reasoning, "s");
  assert.equal(media.images, 1);
});

test("spells functions as chat completions do, and keeps the schema", () => {
  const parameters = { type: "object" };
  const { tools, responseSchema } = chat({
    input: "x",
    tools: [{ type: "function", name: "f", parameters, strict: true }],
    text: { format: { type: "json_schema", name: "n", schema: parameters } },
  }).chat;
  assert.deepEqual(tools, [{ type: "function", function: { name: "f", parameters } }]);
  assert.deepEqual(responseSchema, parameters);
});

test("knows no size where the server has a part of the prompt", () => {
  assertUnknown(PATH, [
    { input: "x", previous_response_id: "r" },
    { input: "x", conversation: "c" },
    { input: "x", prompt: { id: "p" } },
    { input: "x", tools: [{ type: "web_search" }] },
    { input: [{ type: "item_reference", id: "i" }] },
    { input: [{ type: "reasoning", encrypted_content: "AAAA", summary: [] }] },
    { input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] },
  ]);
});

test("knows no size for other shapes", () => {
  assertUnknown(PATH, [
    {},
    { input: [] },
    { input: 5 },
    { input: [5] },
    { input: [{}] },
    { input: "x", instructions: [] },
    { input: "x", tools: {} },
    { input: "x", tools: [5] },
    { input: [{ type: "function_call" }] },
  ]);
});
