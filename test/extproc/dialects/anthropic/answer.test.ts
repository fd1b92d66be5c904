import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { toCompletion } from "../../../../extproc/dialects/anthropic/answer.js";
import { toErrorBody } from "../../../../extproc/dialects/anthropic/errors.js";

const form = { model: undefined, createdAt: 1_700_000_000, includesUsage: false };

function translate(message: unknown, model?: string) {
  const body = typeof message === "string" ? message : JSON.stringify(message);
  return JSON.parse(toCompletion(Buffer.from(body), { ...form, model }).toString());
}

const message = (content: unknown[], more: Record<string, unknown> = {}) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  content,
  stop_reason: "end_turn",
  usage: { input_tokens: 10, cache_creation_input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 7 },
  ...more,
});

test("a message becomes a chat completion", () => {
  assert.deepEqual(
    translate(
      message([
        { type: "text", text: "Hel" },
        { type: "text", text: "lo" },
      ]),
    ),
    {
      id: "msg_1",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "claude",
      choices: [
        { index: 0, message: { role: "assistant", content: "Hello" }, logprobs: null, finish_reason: "stop" },
      ],
      usage: {
        prompt_tokens: 115,
        completion_tokens: 7,
        total_tokens: 122,
        prompt_tokens_details: { cached_tokens: 100 },
      },
    },
  );
  assert.equal(translate(message([]), "mine").model, "mine");
});

test("thoughts and tool calls are carried, every digit of them", () => {
  const text = JSON.stringify(
    message(
      [
        { type: "thinking", thinking: "hm", signature: "x" },
        { type: "tool_use", id: "toolu_1", name: "f", input: { id: 0 } },
        { type: "server_tool_use", id: "y" },
        7,
      ],
      { stop_reason: "tool_use" },
    ),
  ).replace('{"id":0}', '{"id": 9007199254740993}');
  const [choice] = translate(text).choices;
  assert.deepEqual(choice, {
    index: 0,
    message: {
      role: "assistant",
      content: null,
      reasoning_content: "hm",
      tool_calls: [
        { id: "toolu_1", type: "function", function: { name: "f", arguments: '{"id": 9007199254740993}' } },
      ],
    },
    logprobs: null,
    finish_reason: "tool_calls",
  });
});

test("says why it ended in the caller's words", () => {
  for (const [reason, wanted] of [
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["pause_turn", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["tool_use", "tool_calls"],
    ["refusal", "content_filter"],
    ["a_new_one", "stop"],
    [null, null],
  ]) {
    assert.equal(translate(message([], { stop_reason: reason })).choices[0].finish_reason, wanted);
  }
});

test("what is no message is an error within the answer", () => {
  for (const odd of ["", "{", "[]", "{}", '{"type":"message"}', '{"type":"message","content":"x"}']) {
    assert.equal(translate(odd).error.code, "llm_breaker_unreadable_answer", odd);
  }
  assert.equal(
    JSON.parse(toCompletion(undefined, form).toString()).error.code,
    "llm_breaker_unreadable_answer",
  );
  const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  assert.equal(translate(overloaded).error.code, "overloaded");
});

test("never throws, whatever the blocks", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), (content, usage) => {
      assert.equal(translate(message(content, { usage })).object, "chat.completion");
    }),
  );
});

const errorOf = (status: number, body: string) =>
  JSON.parse(toErrorBody(status, Buffer.from(body)).toString()).error;
const anthropicError = (type: string, text: string) =>
  JSON.stringify({ type: "error", error: { type, message: text } });

test("errors keep their message and get the names that clients know", () => {
  for (const [type, text, wantedType, code] of [
    ["invalid_request_error", "max_tokens: must be more", "invalid_request_error", null],
    [
      "invalid_request_error",
      "prompt is too long: 9 > 8",
      "invalid_request_error",
      "context_length_exceeded",
    ],
    ["authentication_error", "invalid x-api-key", "invalid_request_error", "invalid_api_key"],
    ["billing_error", "pay", "insufficient_quota", "insufficient_quota"],
    ["permission_error", "no", "invalid_request_error", "permission_denied"],
    ["not_found_error", "model: claude-0", "invalid_request_error", "model_not_found"],
    ["not_found_error", "Not Found", "invalid_request_error", "not_found"],
    ["rate_limit_error", "slow down", "rate_limit_error", "rate_limit_exceeded"],
    ["overloaded_error", "Overloaded", "server_error", "overloaded"],
    ["api_error", "Internal server error", "server_error", "server_error"],
    ["a_new_error", "?", "server_error", null],
  ] as const) {
    assert.deepEqual(errorOf(400, anthropicError(type, text)), {
      message: text,
      type: wantedType,
      param: null,
      code,
    });
  }
});

test("an error that can't be read is JSON all the same", () => {
  for (const body of ["", "<html>Bad gateway</html>", "{}", '{"error":"text"}']) {
    assert.equal(errorOf(502, body).message, "The backend answered with status 502.");
  }
  assert.equal(errorOf(500, '{"error":{"type":"api_error"}}').message, "The backend's error can't be read.");
  assert.equal(JSON.parse(toErrorBody(500, undefined).toString()).error.type, "server_error");
});

test("an object where a text belongs is none, also one that can't be asked for a text", () => {
  const odd = { toString: 1, valueOf: null };
  const blocks = [
    { type: "text", text: odd },
    { type: "thinking", thinking: odd },
    { type: "tool_use", id: odd, name: odd, input: {} },
  ];
  const { id, model, choices } = translate(message(blocks, { id: odd, model: odd }));
  assert.deepEqual([id, model, choices[0].message.content], ["", "", ""]);
  assert.deepEqual(choices[0].message.tool_calls[0].function, { name: "", arguments: "{}" });
  assert.equal(errorOf(500, JSON.stringify({ error: { type: odd, message: "m" } })).message, "m");
});
