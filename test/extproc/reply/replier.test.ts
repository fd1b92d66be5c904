import assert from "node:assert/strict";
import { test } from "node:test";
import { answerOfText } from "../../../extproc/reply/answer.js";
import { isReplyAsked, REPLY_ATTRIBUTE } from "../../../extproc/reply/instruction.js";
import { jsonError } from "../../../extproc/reply/json-error.js";
import { type RememberedAnswer, Replier } from "../../../extproc/reply/replier.js";
import type { Exchange } from "../../../extproc/role.js";

function exchange(instruction: unknown, path = "/v1/chat/completions?x=1"): Exchange {
  const text = typeof instruction === "string" ? instruction : JSON.stringify(instruction);
  return { headers: new Map([[":path", path]]), attributes: new Map([[REPLY_ATTRIBUTE, text]]) };
}

const fixed = { chain: "chat", action: "fixed", status: 200, text: "We are busy." };
const cached = { chain: "chat", action: "cached", maxAgeSeconds: 600 };

const remembering = (
  remembered?: RememberedAnswer,
  isUnused = false,
  warn: (problem: string) => void = () => {},
) => new Replier({ recall: () => remembered, isUnused }, warn);

test("a fixed text is given as JSON or as events, under the model that was asked for", () => {
  const replier = remembering();
  const whole = replier.reply(exchange(fixed), { model: "qwen3-32b" });
  assert.equal(whole?.status, 200);
  assert.deepEqual(whole?.headers, {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-llm-breaker-reason": "exhausted",
    "x-llm-breaker-answer": "fixed",
  });
  const json = JSON.parse(String(whole?.body));
  assert.equal(json.model, "qwen3-32b");
  assert.equal(json.choices[0].message.content, "We are busy.");
  assert.equal(json.choices[0].finish_reason, "stop");
  const events = replier.reply(exchange(fixed), { model: "m", stream: true });
  assert.equal(events?.headers["content-type"], "text/event-stream");
  assert.match(String(events?.body), /"content":"We are busy\."[\s\S]*data: \[DONE\]\n\n$/);
  assert.doesNotMatch(String(events?.body), /usage/);
  const options = { stream: true, stream_options: { include_usage: true } };
  assert.match(String(replier.reply(exchange(fixed), options)?.body), /"choices":\[\],"usage":/);
});

test("each dialect is answered in its own form", () => {
  const body = (path: string, stream: boolean) =>
    String(remembering().reply(exchange(fixed, path), { model: "m", stream })?.body);
  assert.match(body("/v1/completions", false), /"object":"text_completion".*"text":"We are busy\."/);
  assert.match(
    body("/v1/responses", false),
    /"object":"response".*"type":"output_text","text":"We are busy\."/,
  );
  assert.match(body("/v1/responses", true), /^event: response\.created[\s\S]*event: response\.completed\n/);
  assert.match(
    body("/v1/messages", false),
    /"type":"message".*"text":"We are busy\.".*"stop_reason":"end_turn"/,
  );
  assert.match(body("/v1/messages", true), /^event: message_start[\s\S]*event: message_stop\n/);
});

test("a remembered answer tells its age, and an old one is not given", () => {
  const answer = answerOfText("m", "hello");
  const given = remembering({ answer, ageSeconds: 12.7 }).reply(exchange(cached), { model: "m" });
  assert.equal(given?.headers["x-llm-breaker-answer"], "cached");
  assert.equal(given?.headers.age, "12");
  assert.equal(remembering({ answer, ageSeconds: 601 }).reply(exchange(cached), {}), undefined);
  assert.equal(remembering().reply(exchange(cached), {}), undefined);
});

test("what is not understood is left to the gate", () => {
  const replier = remembering();
  for (const instruction of ["", "{", "null", { action: "fixed" }, { ...fixed, status: 99 }, { action: "x" }])
    assert.equal(replier.reply(exchange(instruction), { model: "m" }), undefined);
  assert.equal(replier.reply(exchange(fixed, "/v1/embeddings"), {}), undefined);
  assert.equal(isReplyAsked(exchange("").attributes), false);
  assert.equal(isReplyAsked(exchange(fixed).attributes), true);
});

test("our errors have OpenAI's shape, and details that the local-reply mapper leaves alone", () => {
  const error = jsonError(413, { message: "Too large.", type: "invalid_request_error", code: "too_large" });
  assert.equal(
    String(error.body),
    '{"error":{"message":"Too large.","type":"invalid_request_error","param":null,"code":"too_large"}}',
  );
  assert.equal(error.details, "llm_breaker_too_large");
});

test("tells when answers are to be given again and none was ever remembered", () => {
  const told: string[] = [];
  const tell = (problem: string) => void told.push(problem);
  remembering(undefined, false, tell).reply(exchange(cached), { model: "m" });
  remembering(undefined, true, tell).reply(exchange(fixed), { model: "m" });
  assert.equal(told.length, 0);
  remembering(undefined, true, tell).reply(exchange(cached), { model: "m" });
  assert.match(String(told[0]), /is llm.breaker.remember on/);
});
