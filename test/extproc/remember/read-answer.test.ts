import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readAnswer } from "../../../extproc/remember/read-answer.js";
import type { CompleteAnswer } from "../../../extproc/reply/answer.js";
import type { Ask, Dialect } from "../../../extproc/reply/ask.js";
import { writeAnswer } from "../../../extproc/reply/write.js";

const DIALECTS: readonly Dialect[] = ["chat", "completion", "responses", "messages"];

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
const toolInput = fc.dictionary(text, fc.jsonValue({ maxDepth: 2 })).map((input) => JSON.stringify(input));
const toolCall = fc.record({ id: text, name: text, arguments: toolInput });

/** Answers that every dialect can tell: thoughts and cut answers are not told by all. */
const plainAnswer = fc.record({
  model: text,
  text,
  reasoning: fc.constant(""),
  toolCalls: fc.constant([]),
  finish: fc.constant("stop" as const),
  promptTokens: fc.nat(),
  completionTokens: fc.nat(),
});
const toolAnswer = fc.record({
  model: text,
  text: fc.string({ unit: "grapheme" }),
  reasoning: fc.constant(""),
  toolCalls: fc.array(toolCall, { minLength: 1, maxLength: 3 }),
  finish: fc.constant("tool_calls" as const),
  promptTokens: fc.nat(),
  completionTokens: fc.nat(),
});

function ask(dialect: Dialect, stream: boolean): Ask {
  return { dialect, model: "m", stream, includeUsage: true };
}

test("what is written in a dialect is read again as the same answer, as JSON and as events", () => {
  const property = fc.property(
    fc.oneof(plainAnswer, toolAnswer),
    fc.constantFrom(...DIALECTS),
    fc.boolean(),
    (answer, dialect, stream) => {
      if (dialect === "completion" && answer.toolCalls.length > 0) return;
      const { body } = writeAnswer(answer, ask(dialect, stream));
      assert.deepEqual(comparable(readAnswer(dialect, stream, body)), comparable(answer));
    },
  );
  fc.assert(property, { numRuns: 500 });
});

/** Messages carry a tool's input as an object: its text is another, its value the same. */
function comparable(answer: CompleteAnswer | undefined): unknown {
  return (
    answer && {
      ...answer,
      toolCalls: answer.toolCalls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) })),
    }
  );
}

test("an answer that was cut anywhere is never kept", () => {
  const property = fc.property(
    fc.oneof(plainAnswer, toolAnswer),
    fc.constantFrom(...DIALECTS),
    fc.boolean(),
    fc.nat(),
    (answer, dialect, stream, at) => {
      const { body } = writeAnswer(answer, ask(dialect, stream));
      // The blank line after the last event is no part of what it says.
      const length = body.toString().trimEnd().length;
      const cut = body.subarray(0, at % Math.min(length, body.length));
      assert.equal(readAnswer(dialect, stream, cut), undefined);
    },
  );
  fc.assert(property, { numRuns: 500 });
});

test("arbitrary bytes are read without a fault", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
    fc.json().map((json) => Buffer.from(json)),
    fc.json().map((json) => Buffer.from(`data: ${json}\n\ndata: [DONE]\n\n`)),
  );
  fc.assert(
    fc.property(bytes, fc.constantFrom(...DIALECTS), fc.boolean(), (body, dialect, stream) => {
      readAnswer(dialect, stream, body);
    }),
    { numRuns: 2000 },
  );
});

const kept = (dialect: Dialect, stream: boolean, body: string) =>
  readAnswer(dialect, stream, Buffer.from(body)) !== undefined;

test("only one whole, understood answer is kept", () => {
  const choice = { index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" };
  const chat = (more: object) => JSON.stringify({ model: "m", choices: [choice], ...more });
  assert.ok(kept("chat", false, chat({})));
  assert.ok(!kept("chat", false, chat({ choices: [choice, choice] })), "two answers");
  assert.ok(!kept("chat", false, chat({ choices: [{ ...choice, finish_reason: "abort" }] })), "broken off");
  assert.ok(
    !kept("chat", false, chat({ choices: [{ ...choice, message: { refusal: "no" } }] })),
    "a refusal",
  );
  assert.ok(!kept("chat", false, JSON.stringify({ error: { message: "busy" } })), "an error inside a 200");
  const stream = `data: {"model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n`;
  assert.ok(kept("chat", true, `${stream}data: [DONE]\n\n`));
  assert.ok(
    kept("chat", true, `: ping\r\n\r\n${stream.replaceAll("\n", "\r\n")}data:[DONE]\r\n\r\n`),
    "CRLF",
  );
  assert.ok(
    !kept("chat", true, `${stream}data: {"error":{"message":"x"}}\n\ndata: [DONE]\n\n`),
    "an error event",
  );
});
