import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { AnswerForm } from "../../../../extproc/dialects/anthropic/form.js";
import { StreamTranslator } from "../../../../extproc/dialects/anthropic/stream.js";
import { cut } from "../../support/pieces.js";

const form: AnswerForm = { model: undefined, createdAt: 1_700_000_000, includesUsage: false };

const event = (data: { type: string } & Record<string, unknown>) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const start = event({
  type: "message_start",
  message: {
    id: "msg_1",
    model: "claude",
    usage: { input_tokens: 10, cache_read_input_tokens: 3, output_tokens: 1 },
  },
});
const block = (index: number, content_block: object) =>
  event({ type: "content_block_start", index, content_block });
const delta = (index: number, one: object) => event({ type: "content_block_delta", index, delta: one });
const text = (index: number, content: string) => delta(index, { type: "text_delta", text: content });
const ping = event({ type: "ping" });
const finish = (reason = "end_turn") =>
  event({
    type: "message_delta",
    delta: { stop_reason: reason },
    usage: { input_tokens: null, output_tokens: 7 },
  });
const stop = event({ type: "message_stop" });

const answer = [
  start,
  ping,
  block(0, { type: "thinking", thinking: "" }),
  delta(0, { type: "thinking_delta", thinking: "hm" }),
  delta(0, { type: "signature_delta", signature: "x" }),
  event({ type: "content_block_stop", index: 0 }),
  block(1, { type: "text", text: "" }),
  text(1, "grüße 🙂"),
  block(2, { type: "tool_use", id: "toolu_1", name: "f", input: {} }),
  delta(2, { type: "input_json_delta", partial_json: "" }),
  delta(2, { type: "input_json_delta", partial_json: '{"id": 9007199254740993' }),
  delta(2, { type: "input_json_delta", partial_json: "}" }),
  block(3, { type: "tool_use", id: "toolu_2", name: "g", input: {} }),
  event({ type: "a_new_kind" }),
  finish("tool_use"),
  stop,
].join("");

function translate(stream: string, settings: Partial<AnswerForm> = {}, lengths = [1_000_000]) {
  const translator = new StreamTranslator({ ...form, ...settings });
  const pieces = cut(Buffer.from(stream), lengths).map((piece) => translator.push(piece, false));
  return Buffer.concat([...pieces, translator.push(Buffer.alloc(0), true)]).toString();
}

/** The payloads; comments as they are. */
function payloads(stream: string): unknown[] {
  return stream
    .split("\n\n")
    .filter((one) => one !== "")
    .map((one) => (one.startsWith("data: {") ? JSON.parse(one.slice(6)) : one));
}

const chunk = (choice: object, model = "claude") => ({
  id: "msg_1",
  object: "chat.completion.chunk",
  created: 1_700_000_000,
  model,
  choices: [{ index: 0, ...choice }],
});
const piece = (one: object) => chunk({ delta: one, logprobs: null, finish_reason: null });
const calls = (one: object) => piece({ tool_calls: [one] });

test("a message's events become a chat's chunks", () => {
  assert.deepEqual(payloads(translate(answer)), [
    piece({ role: "assistant", content: "" }),
    ": ping",
    piece({ reasoning_content: "hm" }),
    piece({ content: "grüße 🙂" }),
    calls({ index: 0, id: "toolu_1", type: "function", function: { name: "f", arguments: "" } }),
    calls({ index: 0, function: { arguments: '{"id": 9007199254740993' } }),
    calls({ index: 0, function: { arguments: "}" } }),
    calls({ index: 1, id: "toolu_2", type: "function", function: { name: "g", arguments: "" } }),
    chunk({ delta: {}, logprobs: null, finish_reason: "tool_calls" }),
    "data: [DONE]",
  ]);
});

test("tells the usage when the caller asked, and names the model as it did", () => {
  const all = payloads(
    translate(start + text(0, "x") + finish() + stop, { includesUsage: true, model: "mine" }),
  );
  assert.deepEqual(all.slice(-2), [
    {
      ...chunk({}, "mine"),
      choices: [],
      usage: {
        prompt_tokens: 13,
        completion_tokens: 7,
        total_tokens: 20,
        prompt_tokens_details: { cached_tokens: 3 },
      },
    },
    "data: [DONE]",
  ]);
});

test("an error of the backend's is the last that the caller gets", () => {
  const error = event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
  const all = payloads(translate(start + text(0, "x") + error + text(0, "y") + finish() + stop));
  assert.deepEqual(all.slice(2), [
    { error: { message: "Overloaded", type: "server_error", param: null, code: "overloaded" } },
  ]);
});

test("a stream that was cut never ends as a whole one", () => {
  for (const cutStream of [
    start,
    start + text(0, "x"),
    start + text(0, "x") + finish(),
    start + text(0, "x") + stop,
  ]) {
    assert.ok(!translate(cutStream).includes("[DONE]"), cutStream);
  }
});

test("a stream's end completes its last event", () => {
  assert.ok(translate(`${start}${finish()}${stop}`.trimEnd()).endsWith("data: [DONE]\n\n"));
});

test("what can't be understood ends the stream with an error", () => {
  for (const odd of [
    "data: {\n\n",
    "data: [DONE]\n\n",
    "data: 7\n\n",
    event({ type: "message_start", message: 7 }),
    `data: ${"x".repeat(70_000)}\n\n`,
  ]) {
    const all = payloads(translate(start + text(0, "x") + odd + text(0, "y") + stop)) as {
      error?: { code: string };
    }[];
    assert.equal(all.length, 3, odd.slice(0, 40));
    assert.equal(all[2]?.error?.code, "llm_breaker_unreadable_answer");
  }
});

test("gives the same bytes wherever the pieces are cut, with any line ends", () => {
  const whole = translate(answer, { includesUsage: true });
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      fc.constantFrom("\n", "\r\n", "\r"),
      (lengths, end) => {
        assert.equal(translate(answer.replaceAll("\n", end), { includesUsage: true }, lengths), whole);
      },
    ),
  );
});

test("never throws, and ends once, whatever comes", () => {
  const odd = fc.oneof(
    fc.constantFrom(start, stop, finish(), text(0, "x"), block(0, {}), ping),
    fc.jsonValue().map((value) => `data: ${JSON.stringify(value)}\n\n`),
    fc.string(),
  );
  fc.assert(
    fc.property(
      fc.array(odd),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
      (parts, lengths) => {
        const whole = translate(parts.join(""));
        assert.equal(translate(parts.join(""), {}, lengths), whole);
        const ends = whole.match(/data: \[DONE\]|data: \{"error"/g) ?? [];
        assert.ok(ends.length <= 1, whole);
      },
    ),
    { numRuns: 1000 },
  );
});
