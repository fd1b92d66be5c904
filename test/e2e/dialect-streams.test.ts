import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { type Answer, send } from "../support/client.js";
import { completionJson, doneEvent, finishEvent, roleEvent, tokenEvent } from "../support/completion.js";
import type { Write } from "../support/upstream-mode.js";
import { OutcomeCounts } from "./support/outcome-counts.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { chainOf } from "./support/shipped-config.js";

// Streams of other dialects than OpenAI's chat: held until a token of theirs, judged by their own ends and errors.

const pauseMs = 300;
let rig: Rig;
let outcomes: OutcomeCounts;

before(async () => {
  rig = await startRig({
    service: false,
    policy: (policy) => {
      neverOpen(policy);
      Object.assign(chainOf(policy), { sameTierRetries: 0, firstTokenTimeout: "3s", stallTimeout: "3s" });
    },
  });
  outcomes = new OutcomeCounts(rig);
});

beforeEach(() => rig.reset());

after(() => rig.stop());

function named(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Responses and Messages name each event by its type, in the line before as well. */
function typed(type: string, rest: object = {}): string {
  return named(type, { type, ...rest });
}

function data(payload: object): string {
  return `data: ${JSON.stringify(payload)}\n\n`;
}

interface Dialect {
  readonly name: string;
  readonly path: string;
  /** What comes before a token, and is none. */
  readonly early: string;
  readonly token: string;
  readonly end: string;
  /** An error in place of the first token. */
  readonly error: string;
}

const response = { id: "resp_1", object: "response", status: "in_progress", error: null, output: [] };
const usage = { input_tokens: 8, output_tokens: 2, total_tokens: 10 };
const chatPath = "/v1/chat/completions";
const chatEnd = tokenEvent("m", " there") + finishEvent("m") + doneEvent;
const chatError = data({ error: { message: "Internal error", type: "server_error", code: 500 } }) + doneEvent;

const dialects: readonly Dialect[] = [
  {
    name: "OpenAI Responses",
    path: "/v1/responses",
    early:
      typed("response.created", { response }) +
      typed("response.in_progress", { response }) +
      typed("response.output_item.added", { output_index: 0, item: { type: "message", content: [] } }) +
      typed("response.content_part.added", { part: { type: "output_text", text: "" } }),
    token: typed("response.output_text.delta", { output_index: 0, delta: "Hi" }),
    end:
      typed("response.output_text.done", { text: "Hi" }) +
      typed("response.completed", { response: { ...response, status: "completed", usage } }),
    error: typed("response.failed", {
      response: {
        ...response,
        status: "failed",
        error: { code: "server_error", message: "The model failed" },
      },
    }),
  },
  {
    name: "Anthropic Messages",
    path: "/v1/messages",
    early:
      typed("message_start", { message: { id: "msg_1", role: "assistant", content: [], usage } }) +
      typed("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
      typed("ping"),
    token: typed("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Hi" } }),
    end:
      typed("content_block_stop", { index: 0 }) +
      typed("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }) +
      typed("message_stop"),
    error: typed("error", { error: { type: "api_error", message: "Internal server error" } }),
  },
  {
    name: "generate_stream of Text Generation Inference",
    path: "/generate_stream",
    early: ":\n\n",
    token: `data:${JSON.stringify({ index: 1, token: { id: 1, text: "Hi", logprob: -1, special: false }, generated_text: null, details: null })}\n\n`,
    end: `data:${JSON.stringify({ index: 2, token: { id: 2, text: "</s>", logprob: 0, special: true }, generated_text: "Hi", details: { finish_reason: "eos_token" } })}\n\n`,
    error: `data:${JSON.stringify({ error: "Request failed during generation: shard", error_type: "generation" })}\n\n`,
  },
  {
    name: "Azure OpenAI, which begins without a choice",
    path: chatPath,
    early:
      data({ id: "", object: "", model: "", choices: [], prompt_filter_results: [{ prompt_index: 0 }] }) +
      roleEvent("m"),
    token: tokenEvent("m", "Hi"),
    end: chatEnd,
    error: chatError,
  },
  {
    name: "DeepSeek, which keeps the line warm",
    path: chatPath,
    early: ": keep-alive\n\n: keep-alive\n\n",
    token: data({ choices: [{ index: 0, delta: { role: "assistant", reasoning_content: "Hm" } }] }),
    end: chatEnd,
    error: chatError,
  },
  {
    name: "SGLang, which writes every field",
    path: chatPath,
    early: data({
      choices: [
        { index: 0, delta: { role: "assistant", content: "", tool_calls: null }, finish_reason: null },
      ],
      usage: null,
    }),
    token: tokenEvent("m", "Hi"),
    end: chatEnd,
    error:
      data({ error: { object: "error", message: "Boom.", type: "INTERNAL_SERVER_ERROR", code: 500 } }) +
      doneEvent,
  },
];

function play(path: string, writes: readonly Write[], headers?: Record<string, string>): Promise<Answer> {
  rig.gpu.mode = { kind: "chunks", writes, ...(headers && { headers }) };
  const body = JSON.stringify({ model: "m", stream: true, messages: [] });
  return send(rig.url + path, { body });
}

for (const { name, path, early, token, end, error } of dialects) {
  test(`${name}: held until its token, then passed on byte for byte, and a success`, async () => {
    const answer = await play(path, [early, { waitMs: pauseMs }, token, { waitMs: pauseMs }, end]);
    assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
    assert.equal(answer.text, early + token + end);
    assert.ok(answer.complete);
    const firstByteMs = answer.firstByteMs ?? 0;
    assert.ok(firstByteMs > pauseMs - 50, `passed on after ${firstByteMs} ms`);
    assert.ok(firstByteMs < answer.totalMs - pauseMs / 2, "held beyond its token");
    assert.deepEqual(await outcomes.news(), { success: 1 });
  });

  test(`${name}: an error in place of the token is answered by the next tier`, async () => {
    const answer = await play(path, [early, { waitMs: 50 }, error]);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
    assert.equal(answer.headers["x-llm-breaker-tried"], "gpu=error");
    assert.match(answer.text, /token0[\s\S]*\[DONE\]/);
    assert.deepEqual(await outcomes.news(), { failure: 1 });
  });

  test(`${name}: cut before its token it is answered by the next tier, cut after it is seen to be broken`, async () => {
    const before = await play(path, [early]);
    assert.equal(before.headers["x-llm-breaker-backend"], "small");
    assert.equal(before.headers["x-llm-breaker-tried"], "gpu=cut");
    const later = await play(path, [early, token, { waitMs: 50 }]);
    assert.equal(later.headers["x-llm-breaker-backend"], "gpu");
    assert.equal(later.complete, false);
    assert.equal(later.text, early + token);
    assert.deepEqual(await outcomes.news(), { failure: 2 });
  });
}

test("Triton's generate answers in one piece: whole, an error object, or half", async () => {
  const path = "/v2/models/llm/generate";
  const json = { "content-type": "application/json" };
  const whole = JSON.stringify({ model_name: "llm", model_version: "1", text_output: "Hi" });
  const answer = await play(path, [whole.slice(0, 20), { waitMs: 50 }, whole.slice(20)], json);
  assert.equal(answer.text, whole);
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
  for (const broken of [JSON.stringify({ error: "Failed to process the request" }), whole.slice(0, 20)]) {
    const moved = await play(path, [broken], json);
    assert.equal(moved.headers["x-llm-breaker-backend"], "small");
  }
  assert.deepEqual(await outcomes.news(), { success: 1, failure: 2 });
});

test("Triton's generate_stream: tokens without an end mark are a whole stream when each came whole", async () => {
  const path = "/v2/models/llm/generate_stream";
  const token = data({ model_name: "llm", model_version: "1", text_output: "Hi" });
  const answer = await play(path, [token, { waitMs: 50 }, token]);
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
  assert.equal(answer.text, token + token);
  assert.ok(answer.complete, answer.brokenBy);
  const moved = await play(path, [data({ error: "Stub process 'llm_0_0' is not healthy." })]);
  assert.equal(moved.headers["x-llm-breaker-backend"], "small");
  assert.deepEqual(await outcomes.news(), { success: 1, failure: 1 });
});

test("blank lines before a JSON answer keep the line warm, and are part of it", async () => {
  const json = { "content-type": "application/json" };
  const blank: Write[] = ["\n", { waitMs: 150 }, "\n\n", { waitMs: 150 }];
  const whole = completionJson("m", "Hi");
  const answer = await play(chatPath, [...blank, whole], json);
  assert.equal(answer.text, `\n\n\n${whole}`);
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
  for (const rest of ["", whole.slice(0, -1)]) {
    const moved = await play(chatPath, [...blank, rest], json);
    assert.equal(moved.headers["x-llm-breaker-backend"], "small");
    assert.equal(moved.headers["x-llm-breaker-tried"], "gpu=cut");
  }
  assert.deepEqual(await outcomes.news(), { success: 1, failure: 2 });
});

test("an answer in a coding that nobody asked for passes as it comes, judged by its status", async () => {
  const packed = gzipSync(roleEvent("m") + chatError);
  const headers = { "content-type": "text/event-stream", "content-encoding": "gzip" };
  const halves: Write[] = [packed.subarray(0, 20), { waitMs: pauseMs }, packed.subarray(20)];
  const answer = await play(chatPath, halves, headers);
  assert.equal(rig.gpu.arrivals[0]?.headers["accept-encoding"] ?? "identity", "identity");
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
  assert.equal(answer.headers["content-encoding"], "gzip");
  assert.deepEqual(answer.body, packed);
  assert.ok((answer.firstByteMs ?? 9e9) < answer.totalMs - pauseMs / 2, "it was held");
  rig.gpu.mode = {
    kind: "status",
    status: 503,
    headers: { "content-encoding": "gzip" },
    body: "not looked into",
  };
  const body = JSON.stringify({ messages: [] });
  const moved = await send(rig.url + chatPath, { body });
  assert.equal(moved.headers["x-llm-breaker-backend"], "small");
  assert.deepEqual(await outcomes.news(), { success: 1, failure: 1 });
});
