import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Answer, type ChatSettings, chat, send, sseData } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import * as claude from "./support/anthropic.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { chainOf, describeCluster } from "./support/shipped-config.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    policy: (policy) => {
      neverOpen(policy);
      chainOf(policy).sameTierRetries = 0;
    },
    patch: (config) => {
      describeCluster(config, "small", {
        backend: "small",
        dialect: "anthropic",
        model: "claude",
        maxOutputTokens: "1024",
        answerModel: "caller",
      });
    },
  });
});

/** The second tier speaks Messages; the third one OpenAI's dialect. */
beforeEach(() => {
  rig.reset();
  rig.gpu.mode = { kind: "status", status: 500 };
});

after(() => rig.stop());

const ask = (settings: ChatSettings = {}): Promise<Answer> => chat(rig.url, settings);

function assertFrom(answer: Answer, backend: string): void {
  assert.equal(answer.headers["x-llm-breaker-backend"], backend, `${answer.status} ${answer.text}`);
  assert.equal(answer.headers["x-llm-breaker-adapted"], undefined, "a header of ours stays inside");
}

function chunksOf({ text }: Answer) {
  assert.ok(!text.includes("event:"), text);
  return sseData(text)
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data));
}

const contentOf = (answer: Answer) =>
  chunksOf(answer)
    .map(({ choices }) => choices?.[0]?.delta?.content ?? "")
    .join("");

test("a chat is answered by Messages", async () => {
  rig.small.mode = claude.message([{ type: "text", text: "Grüße 🙂" }]);
  const answer = await ask({ extra: { stop: ["END"], temperature: 2, seed: 1 } });
  assertFrom(answer, "small");
  const { id, created, ...completion } = JSON.parse(answer.text);
  assert.deepEqual([id, typeof created], ["msg_1", "number"]);
  assert.deepEqual(completion, {
    object: "chat.completion",
    model: "qwen3-32b",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "Grüße 🙂" },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: {
      prompt_tokens: 10,
      completion_tokens: 4,
      total_tokens: 14,
      prompt_tokens_details: { cached_tokens: 2 },
    },
  });
  const arrival = rig.small.arrivals.at(-1);
  assert.equal(arrival?.path, "/v1/messages");
  assert.equal(arrival?.headers["anthropic-version"], "2023-06-01");
  assert.equal(Number(arrival?.headers["content-length"]), arrival?.bodyBytes);
  assert.deepEqual(JSON.parse(arrival?.body.toString() ?? ""), {
    model: "claude",
    max_tokens: 1024,
    messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
    temperature: 1,
    stop_sequences: ["END"],
  });
});

test("a streamed chat is answered by a stream, usage and end mark included", async () => {
  const writes = [
    claude.started,
    claude.textOpened,
    claude.text("Grü"),
    claude.text("ße 🙂"),
    ...claude.ended(),
  ];
  rig.small.mode = claude.stream(...writes);
  const answer = await ask({ stream: true, extra: { stream_options: { include_usage: true } } });
  assertFrom(answer, "small");
  assert.equal(answer.complete, true);
  assert.equal(contentOf(answer), "Grüße 🙂");
  assert.ok(answer.text.endsWith("data: [DONE]\n\n"));
  const chunks = chunksOf(answer);
  assert.deepEqual(new Set(chunks.map(({ model }) => model)), new Set(["qwen3-32b"]));
  assert.deepEqual(chunks.at(-1).usage.total_tokens, 12);
  assert.equal(chunks.at(-2).choices[0].finish_reason, "stop");
  assert.equal(JSON.parse(rig.small.arrivals.at(-1)?.body.toString() ?? "").stream, true);
});

test("tool calls go there and come back", async () => {
  const call = {
    id: "call_1",
    type: "function",
    function: { name: "f", arguments: '{"id":9007199254740993}' },
  };
  const extra = {
    tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: "42" },
    ],
  };
  rig.small.mode = claude.stream(
    claude.started,
    claude.toolOpened(0, "f"),
    claude.toolInput(0, '{"id": 90071992'),
    claude.toolInput(0, "54740993}"),
    ...claude.ended("tool_use"),
  );
  const answer = await ask({ stream: true, extra });
  assertFrom(answer, "small");
  const deltas = chunksOf(answer).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  assert.deepEqual(deltas[0], {
    index: 0,
    id: "toolu_0",
    type: "function",
    function: { name: "f", arguments: "" },
  });
  assert.equal(deltas.map((delta) => delta.function.arguments).join(""), '{"id": 9007199254740993}');
  const sent = rig.small.arrivals.at(-1)?.body.toString() ?? "";
  assert.ok(sent.includes('"input":{"id":9007199254740993}'), sent);
});

test("an overloaded tier is the next one's turn", async () => {
  rig.small.mode = claude.refusal(529, "overloaded_error", "Overloaded");
  assertFrom(await ask(), "public");
  assert.equal(await rig.counter("small", "outcome.backpressure"), 1);
});

test("an overload that only the stream tells of is the next one's turn", async () => {
  rig.small.mode = claude.stream(claude.started, claude.overloaded);
  const answer = await ask({ stream: true });
  assertFrom(answer, "public");
  assert.ok(!answer.text.includes("Overloaded"));
});

test("a refusal comes back in the caller's dialect, its status unchanged", async () => {
  rig.small.mode = claude.refusal(422, "invalid_request_error", "temperature: too hot");
  const answer = await ask();
  assertFrom(answer, "small");
  assert.equal(answer.status, 422);
  assert.deepEqual(JSON.parse(answer.text), {
    error: { message: "temperature: too hot", type: "invalid_request_error", param: null, code: null },
  });
});

test("a stream that fails after its first token tells why, and has no end mark", async () => {
  const writes = [claude.started, claude.text("x"), { waitMs: 100 }, claude.overloaded];
  rig.small.mode = claude.stream(...writes);
  const answer = await ask({ stream: true });
  assertFrom(answer, "small");
  assert.equal(chunksOf(answer).at(-1).error.code, "overloaded");
  assert.ok(!answer.text.includes("[DONE]"));
});

test("a stream that is cut before its first token is the next tier's turn, later it is broken", async () => {
  rig.small.mode = claude.stream(claude.started);
  assertFrom(await ask({ stream: true }), "public");
  rig.small.mode = claude.stream(claude.started, claude.text("x"), { waitMs: 100 }, claude.text("y"));
  const answer = await ask({ stream: true });
  assertFrom(answer, "small");
  assert.equal(answer.complete, false);
  assert.ok(!answer.text.includes("[DONE]"));
});

test("what is no chat completion is not sent there", async () => {
  rig.small.mode = claude.message([]);
  const body = '{"model":"m","input":"SECRET"}';
  await send(`${rig.url}/v1/embeddings`, { body });
  assert.ok(rig.small.arrivals.every((arrival) => !arrival.body.includes("SECRET")));
});

test("a request without a body is sent to no tier with a key of its own, whatever it asks for with that key", async () => {
  for (const [method, path] of [
    ["GET", "/v1/files"],
    ["DELETE", "/v1/files/file-1"],
    ["POST", "/v1/messages/batches/b/cancel"],
    ["GET", "/v1/chat/completions"],
  ] as const) {
    const answer = await send(`${rig.url}${path}`, { method });
    assert.equal(answer.headers["x-llm-breaker-tried"], "gpu=500, small=unrewritten, public=unrewritten");
  }
  const paths = [...rig.small.arrivals, ...rig.public_.arrivals].map((arrival) => arrival.path);
  assert.deepEqual(new Set(paths), new Set(["/llm-breaker-not-rewritten"]));
});

test("a backend can't say that its answer was translated", async () => {
  const own = JSON.stringify({ type: "message", content: [{ type: "text", text: "UNTRANSLATED" }] });
  const headers = { "content-type": "text/plain", "x-llm-breaker-adapted": "1" };
  rig.small.mode = { kind: "status", status: 200, body: own, headers };
  assertFrom(await ask(), "public");
});

test("an answer that is none of Messages is the next tier's turn", async () => {
  rig.small.mode = { kind: "status", status: 200, headers: { "content-type": "text/html" }, body: "<html>" };
  assertFrom(await ask(), "public");
  rig.small.mode = { kind: "status", status: 200, body: '{"unknown":1}' };
  assertFrom(await ask(), "public");
});

/** A stream whose service gets this signal after the third token. */
async function streamLosingService(signal: NodeJS.Signals): Promise<Answer> {
  const tokens = Array.from({ length: 20 }, (_, index) => [claude.text(` t${index}`), { waitMs: 50 }]).flat();
  rig.small.mode = claude.stream(claude.started, ...tokens, ...claude.ended());
  const pieces: Buffer[] = [];
  const pending = ask({ stream: true, onData: (chunk) => pieces.push(chunk) });
  await waitFor(() => Buffer.concat(pieces).includes("t2"), 5_000, "the first tokens");
  rig.service?.signal(signal);
  return await pending;
}

async function isAskedAgain(): Promise<boolean> {
  return (await ask({ stream: true })).headers["x-llm-breaker-backend"] === "small";
}

for (const [what, signal] of [
  ["hangs", "SIGSTOP"],
  ["dies", "SIGKILL"],
] as const) {
  test(`a service that ${what} in the middle of a stream leaves it broken, never ended well`, async () => {
    const answer = await streamLosingService(signal);
    assertFrom(answer, "small");
    assert.equal(answer.complete, false, answer.text);
    assert.ok(!answer.text.includes("[DONE]"));
    rig.service?.signal("SIGCONT");
    if (signal === "SIGSTOP") await waitFor(isAskedAgain, 10_000, "the service taken for alive");
  });
}
