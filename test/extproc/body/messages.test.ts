import assert from "node:assert/strict";
import { test } from "node:test";
import { assertUnknown, chatIn } from "../support/readings.js";

const PATH = "/v1/messages";
const user = (content: unknown) => ({ messages: [{ role: "user", content }] });

test("reads system, text, pictures, thoughts, calls and their nested results", () => {
  const { chat, media, output } = chatIn(PATH, {
    model: "c",
    max_tokens: 5,
    system: [
      { type: "text", text: "Be", cache_control: {} },
      { type: "text", text: "short." },
    ],
    messages: [
      { role: "user", content: "hi" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "AAAA" },
          { type: "text", text: "wait" },
          { type: "tool_use", id: "1", name: "f", input: { a: 1 } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "1",
            content: [
              { type: "text", text: "done" },
              { type: "image", source: {} },
            ],
          },
          { type: "tool_result", tool_use_id: "2" },
          { type: "text", text: "and?" },
        ],
      },
    ],
  });
  assert.deepEqual(
    chat.messages.map(({ role, text }) => [role, text]),
    [
      ["system", "Be\nshort."],
      ["user", "hi"],
      ["assistant", "wait"],
      ["tool", "done\n"],
      ["tool", ""],
      ["user", "and?"],
    ],
  );
  assert.equal(chat.messages[2]?.reasoning, "hm");
  assert.deepEqual(chat.messages[2]?.toolCalls, [{ name: "f", arguments: { a: 1 } }]);
  assert.equal(media.images, 1);
  assert.deepEqual(output, { kind: "limited", answers: 1, tokensEach: 5 });
});

test("reads the text of documents and search results with their titles", () => {
  const { chat } = chatIn(
    PATH,
    user([
      { type: "document", title: "T", source: { type: "text", media_type: "text/plain", data: "D" } },
      { type: "document", source: { type: "content", content: [{ type: "text", text: "E" }] } },
      { type: "search_result", source: "S", title: "U", content: [{ type: "text", text: "F" }] },
    ]),
  );
  assert.equal(chat.messages[0]?.text, "T\nD\nE\nS\nU\nF");
});

test("spells tools as chat completions do", () => {
  const tools = [{ name: "f", description: "d", input_schema: { type: "object" } }];
  assert.deepEqual(chatIn(PATH, { ...user("x"), tools }).chat.tools, [
    { type: "function", function: { name: "f", description: "d", parameters: { type: "object" } } },
  ]);
});

test("asks for no output where tokens are only counted", () => {
  assert.deepEqual(chatIn(`${PATH}/count_tokens`, user("x")).output, {
    kind: "limited",
    answers: 0,
    tokensEach: 0,
  });
});

test("knows no size where the server adds text, or a document is none", () => {
  assertUnknown(PATH, [
    { ...user("x"), tools: [{ type: "web_search_20250305", name: "web_search" }] },
    { ...user("x"), mcp_servers: [] },
    user([{ type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" } }]),
    user([{ type: "document", source: { type: "file", file_id: "f" } }]),
    user([{ type: "redacted_thinking", data: "AAAA" }]),
  ]);
});

test("knows no size for other shapes", () => {
  let nested: unknown = [{ type: "text", text: "x" }];
  for (let depth = 0; depth < 6; depth++)
    nested = [{ type: "document", source: { type: "content", content: nested } }];
  assertUnknown(PATH, [
    {},
    { messages: [] },
    { messages: [5] },
    { messages: [{ content: "x" }] },
    user(5),
    user(undefined),
    user([5]),
    user([{ type: "tool_use" }]),
    user([{ type: "thinking" }]),
    user([{ type: "tool_result", content: [5] }]),
    user([{ type: "document" }]),
    user(nested),
    { ...user("x"), system: 5 },
    { ...user("x"), tools: "f" },
  ]);
});
