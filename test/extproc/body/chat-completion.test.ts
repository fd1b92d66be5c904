import assert from "node:assert/strict";
import { test } from "node:test";
import { assertUnknown, chatIn } from "../support/readings.js";

const PATH = "/v1/chat/completions";
const user = (content: unknown) => ({ messages: [{ role: "user", content }] });
const chat = (body: Record<string, unknown>) => chatIn(PATH, body);

test("joins text parts and counts pictures and sounds without their bytes", () => {
  const read = chat(
    user([
      { type: "text", text: "What" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(1000)}` } },
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
      { type: "text", text: "is it?" },
    ]),
  );
  assert.deepEqual(read.media, { images: 1, audio: 1 });
  assert.equal(read.chat.messages[0]?.text, "What\nis it?");
});

test("counts a spoken answer as a sound, asked for or of earlier", () => {
  assert.equal(chat({ ...user("x"), modalities: ["text", "audio"] }).media.audio, 1);
  assert.equal(chat({ messages: [{ role: "assistant", audio: { id: "a" } }] }).media.audio, 1);
});

test("takes null content, names, refusals and thoughts", () => {
  const { messages } = chat({
    messages: [
      { role: "user", content: null, name: "eve" },
      { role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
      { role: "assistant", content: null, refusal: "No." },
      { role: "assistant", content: "yes", reasoning_content: "hm" },
      { role: "assistant", content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] },
    ],
  }).chat;
  assert.deepEqual(
    messages.map(({ name, text, reasoning }) => [name, text, reasoning]),
    [
      ["eve", "", undefined],
      [undefined, "No.", undefined],
      [undefined, "No.", undefined],
      [undefined, "yes", "hm"],
      [undefined, "hm", undefined],
    ],
  );
});

test("reads tools and calls of both generations, and custom ones", () => {
  const tool = { type: "function", function: { name: "f" } };
  const { messages, tools } = chat({
    tools: [tool, { type: "custom", custom: { name: "c" } }],
    functions: [{ name: "g" }],
    messages: [
      { role: "assistant", content: null, tool_calls: [{ function: { name: "f", arguments: "{}" } }] },
      { role: "assistant", tool_calls: [{ type: "custom", custom: { name: "c", input: "in" } }] },
      { role: "assistant", function_call: { name: "g", arguments: '{"a":1}' } },
    ],
  }).chat;
  assert.equal(tools.length, 3);
  assert.deepEqual(
    messages.flatMap(({ toolCalls }) => toolCalls),
    [
      { name: "f", arguments: "{}" },
      { name: "c", arguments: "in" },
      { name: "g", arguments: '{"a":1}' },
    ],
  );
});

test("keeps the schema that the answer has to fit", () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const named = { type: "json_schema", json_schema: { name: "x", schema } };
  assert.deepEqual(chat({ ...user("x"), response_format: named }).chat.responseSchema, { name: "x", schema });
  assert.deepEqual(
    chat({ ...user("x"), response_format: { type: "json_object", schema } }).chat.responseSchema,
    schema,
  );
  assert.deepEqual(chat({ ...user("x"), guided_json: schema }).chat.responseSchema, schema);
  assert.equal(chat({ ...user("x"), response_format: { type: "text" } }).chat.responseSchema, undefined);
});

test("hands the switches of a template on", () => {
  const read = chat({
    ...user("x"),
    chat_template_kwargs: { enable_thinking: false },
    reasoning_effort: "low",
  });
  assert.deepEqual(read.chat.templateArguments, { reasoning_effort: "low", enable_thinking: false });
  assert.ok(!read.chat.isCustom);
  assert.ok(chat({ ...user("x"), continue_final_message: true }).chat.isCustom);
});

test("knows no size for shapes it does not understand", () => {
  assertUnknown(PATH, [
    {},
    { messages: [] },
    { messages: "x" },
    { messages: [1] },
    { messages: [{}] },
    user(7),
    user([{ type: "hologram" }]),
    user([null]),
    { ...user("x"), tools: {} },
    { ...user("x"), tools: ["x"] },
    { messages: [{ role: "assistant", tool_calls: [{}] }] },
  ]);
});

test("knows no size where the server adds text of its own", () => {
  assertUnknown(PATH, [
    user([{ type: "file", file: { file_data: "data:application/pdf;base64,AAAA" } }]),
    { ...user("x"), tools: [{ type: "web_search" }] },
    { ...user("x"), web_search_options: {} },
    { ...user("x"), documents: [{ text: "x" }] },
    { ...user("x"), chat_template: "{{ x }}" },
    { ...user("x"), chat_template_kwargs: { documents: ["x"] } },
    { ...user("x"), prediction: { type: "content", content: "x" } },
  ]);
});
