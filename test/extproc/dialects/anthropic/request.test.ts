import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Untranslatable } from "../../../../extproc/dialects/untranslatable.js";
import { call, hi, textOf, translate } from "./chats.js";

const hiTurn = { role: "user", content: [{ type: "text", text: "hi" }] };

const refuses = (chat: Record<string, unknown>) =>
  assert.throws(() => translate(chat), Untranslatable, JSON.stringify(chat));

test("states a limit, whatever the chat does", () => {
  assert.deepEqual(translate({ model: "claude" }), { model: "claude", max_tokens: 4096, messages: [hiTurn] });
  assert.equal(translate({ max_tokens: 9 }).max_tokens, 9);
  assert.equal(translate({ max_tokens: 9, max_completion_tokens: 7 }).max_tokens, 7);
  for (const odd of [0, -1, 1.5, "9", null]) assert.equal(translate({ max_tokens: odd }).max_tokens, 4096);
});

test("sets apart what the system says, in order", () => {
  const { system, messages } = translate({
    messages: [
      { role: "system", content: "one" },
      hi,
      {
        role: "developer",
        content: [
          { type: "text", text: "two" },
          { type: "text", text: "three" },
        ],
      },
      { role: "system", content: " " },
    ],
  });
  assert.equal(system, "one\n\ntwo\nthree");
  assert.deepEqual(messages, [hiTurn]);
});

test("joins messages of one role, and leaves out blank ones", () => {
  const { messages } = translate({
    messages: [
      hi,
      { role: "user", content: "there" },
      { role: "assistant", content: "" },
      { role: "assistant", content: null },
    ],
  });
  assert.deepEqual(messages, [
    {
      role: "user",
      content: [
        { type: "text", text: "hi" },
        { type: "text", text: "there" },
      ],
    },
  ]);
});

test("joins what a message without content stands between", () => {
  for (const content of ["", null, []]) {
    const { messages } = translate({ messages: [hi, { role: "assistant", content }, hi] });
    const [turn, ...more] = messages as { content: unknown[] }[];
    assert.deepEqual([turn?.content.length, more.length], [2, 0], JSON.stringify(content));
  }
});

test("carries pictures and PDFs, by address or in base64", () => {
  const { messages } = translate({
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "https://x.example/a.png", detail: "high" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "file", file: { file_data: "data:application/pdf;base64,BBBB" } },
        ],
      },
    ],
  });
  assert.deepEqual(messages, [
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "image", source: { type: "url", url: "https://x.example/a.png" } },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: "BBBB" } },
      ],
    },
  ]);
});

test("refuses content that has no counterpart", () => {
  for (const part of [
    { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
    { type: "image_url", image_url: { url: "data:image/png,plain" } },
    { type: "image_url", image_url: {} },
    { type: "file", file: { file_id: "file-1" } },
    { type: "file", file: { file_data: "data:text/plain;base64,AAAA" } },
    { type: "text" },
    7,
  ]) {
    refuses({ messages: [{ role: "user", content: [part] }] });
  }
  refuses({ messages: [{ role: "user", content: { text: "hi" } }] });
  refuses({ messages: [{ role: "narrator", content: "hi" }] });
  refuses({ messages: ["hi"] });
  refuses({ messages: "hi" });
  refuses({ messages: [{ role: "system", content: "only this" }] });
  refuses({ messages: [hi, { role: "tool", content: "x" }] });
  refuses({ messages: [hi, { role: "assistant", tool_calls: [{ id: "1" }] }] });
});

test("carries tool calls and their results, which open the user's turn", () => {
  const { messages, tools, tool_choice } = translate({
    messages: [
      hi,
      {
        role: "assistant",
        content: "wait",
        tool_calls: [call("call.1", "find", '{"q":"x"}'), call("2", "now", "")],
      },
      { role: "tool", tool_call_id: "call.1", content: "found" },
      { role: "tool", tool_call_id: "2", content: [{ type: "text", text: "noon" }] },
      { role: "user", content: "and?" },
    ],
  });
  assert.deepEqual(messages, [
    hiTurn,
    {
      role: "assistant",
      content: [
        { type: "text", text: "wait" },
        { type: "tool_use", id: "call_1", name: "find", input: { q: "x" } },
        { type: "tool_use", id: "2", name: "now", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "call_1", content: [{ type: "text", text: "found" }] },
        { type: "tool_result", tool_use_id: "2", content: [{ type: "text", text: "noon" }] },
        { type: "text", text: "and?" },
      ],
    },
  ]);
  assert.deepEqual(
    [tools, tool_choice],
    [
      [
        { name: "find", input_schema: { type: "object" } },
        { name: "now", input_schema: { type: "object" } },
      ],
      { type: "none" },
    ],
  );
});

test("carries the older function calls", () => {
  const { messages, tools, tool_choice } = translate({
    functions: [{ name: "find", parameters: { type: "object", properties: {} } }],
    function_call: { name: "find" },
    messages: [
      hi,
      { role: "assistant", content: null, function_call: { name: "find", arguments: "{}" } },
      { role: "function", name: "find", content: "found" },
    ],
  });
  assert.deepEqual((messages as unknown[]).slice(1), [
    { role: "assistant", content: [{ type: "tool_use", id: "find", name: "find", input: {} }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "find", content: [{ type: "text", text: "found" }] }],
    },
  ]);
  assert.deepEqual(tools, [{ name: "find", input_schema: { type: "object", properties: {} } }]);
  assert.deepEqual(tool_choice, { type: "tool", name: "find" });
});

test("keeps every digit of arguments and schemas", () => {
  const body = `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[${JSON.stringify(
    call("1", "f", '{"id": 9007199254740993}'),
  )}]}],"tools":[{"type":"function","function":{"name":"f","parameters":{"maximum": 9223372036854775807}}}]}`;
  const text = textOf(Buffer.from(body));
  assert.ok(text.includes('"input":{"id": 9007199254740993}'), text);
  assert.ok(text.includes('"input_schema":{"maximum": 9223372036854775807}'), text);
});

test("arguments that are no object are handed on as a text", () => {
  const { messages } = translate({
    messages: [hi, { role: "assistant", tool_calls: [call("1", "f", '{"cut')] }],
  });
  assert.deepEqual((messages as { content: unknown[] }[])[1]?.content, [
    { type: "tool_use", id: "1", name: "f", input: { arguments: '{"cut' } },
  ]);
});

test("throws nothing but a refusal, whatever the chat", () => {
  const odd = fc.oneof(fc.jsonValue(), fc.constantFrom("user", "assistant", "tool", "function", "hi"));
  const message = fc.record(
    { role: odd, content: odd, tool_calls: odd, tool_call_id: odd, function_call: odd },
    { requiredKeys: [] },
  );
  const chat = fc.record({
    messages: fc.oneof(fc.array(message), odd),
    tools: odd,
    functions: odd,
    tool_choice: odd,
    stop: odd,
    reasoning_effort: odd,
  });
  fc.assert(
    fc.property(chat, (value) => {
      try {
        assert.ok(Array.isArray(JSON.parse(textOf(Buffer.from(JSON.stringify(value)))).messages));
      } catch (cause) {
        assert.ok(cause instanceof Untranslatable, String(cause));
      }
    }),
    { numRuns: 2000 },
  );
});
