import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import type { Service } from "../../../extproc/server.js";
import {
  bodyMessage,
  headersMessage,
  plainMetadata,
  type ServiceClient,
  startForTest,
} from "../support/client.js";

const CHAT = "/v1/chat/completions";
const BODY = JSON.stringify({
  model: "qwen3-32b",
  messages: [{ role: "user", content: "Hello!" }],
  max_tokens: 64,
});
const UNKNOWN = { exact: false, stream: false, images: 0, audio: 0, canary: false };

let service: Service;
let client: ServiceClient;
before(async () => {
  ({ service, client } = await startForTest());
});
after(async () => {
  client.close();
  await service.close();
});

test("tells the facts of a small chat and that it may be a canary", async () => {
  assert.deepEqual(await client.count(CHAT, BODY), {
    promptTokens: 10,
    outputTokens: 64,
    exact: true,
    stream: false,
    images: 0,
    audio: 0,
    model: "qwen3-32b",
    canary: true,
  });
});

test("answers CONTINUE, changes nothing and ends the stream by itself after the body", async () => {
  const stream = client.open("count");
  assert.deepEqual(await stream.ask(headersMessage({ ":path": CHAT })), {
    request_headers: {},
    response: "request_headers",
  });
  const answer = await stream.ask(bodyMessage(BODY));
  assert.deepEqual(answer.request_body, {});
  assert.ok(await stream.hasEnded());
});

test("is no canary without limits, with a long prompt, a long answer, a picture, or many answers", async () => {
  const stream = client.open("count");
  await stream.ask(headersMessage({ ":path": CHAT }));
  assert.equal(plainMetadata(await stream.ask(bodyMessage(BODY))).canary, false);
  const user = (content: unknown) => [{ role: "user", content }];
  for (const body of [
    { messages: user("word ".repeat(300)) },
    { messages: user("x"), max_tokens: 1025 },
    {
      messages: user([
        { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(1_000_000)}` } },
      ]),
    },
    { messages: user("x"), max_completion_tokens: 512, n: 3 },
    { messages: user("x"), max_tokens: "64" },
  ]) {
    assert.equal(
      (await client.count(CHAT, JSON.stringify(body))).canary,
      false,
      JSON.stringify(body).slice(0, 80),
    );
  }
});

test("counts everything that makes a request big, and only that", async () => {
  const hi = { role: "user", content: "hi" };
  const words = "word ".repeat(300);
  const parameters = { type: "object", properties: { a: { type: "string", description: words } } };
  const chat = (more: object) => [CHAT, { model: "qwen3-32b", messages: [hi], ...more }] as const;
  const big = {
    history: chat({ messages: [hi, { role: "assistant", content: words }, hi] }),
    "system prompt": chat({ messages: [{ role: "system", content: words }, hi] }),
    thoughts: chat({ messages: [hi, { role: "assistant", content: "", reasoning_content: words }] }),
    tools: chat({ tools: [{ type: "function", function: { name: "f", parameters } }] }),
    "tool calls": chat({
      messages: [hi, { role: "assistant", tool_calls: [{ function: { name: "f", arguments: words } }] }],
    }),
    "the answer's schema": chat({
      response_format: { type: "json_schema", json_schema: { name: "s", schema: parameters } },
    }),
    sound: chat({ modalities: ["audio"] }),
    file: chat({ messages: [{ role: "user", content: [{ type: "file", file: {} }] }] }),
    n: chat({ n: 2 }),
    "output of any name": chat({ max_tokens: 5, max_completion_tokens: 2000 }),
    "best of": ["/v1/completions", { prompt: "hi", max_tokens: 600, best_of: 2 }],
    prompts: ["/v1/completions", { prompt: ["hi", "hi"], max_tokens: 600 }],
    "SGLang's output": ["/generate", { text: "hi", sampling_params: { max_new_tokens: 2000 } }],
    "a stored answer": ["/v1/responses", { input: "hi", previous_response_id: "r" }],
    "Anthropic's system": ["/v1/messages", { system: words, messages: [hi], max_tokens: 5 }],
  } as const;
  for (const [what, [path, body]] of Object.entries(big)) {
    assert.equal((await client.count(path, JSON.stringify(body))).canary, false, what);
  }
  const small = [
    chat({ tools: [{ type: "function", function: { name: "f" } }] }),
    ["/v1/completions", { prompt: "hi", max_tokens: 1024, echo: true, logprobs: 5 }],
    ["/v1/embeddings", { input: ["hi", "hi"] }],
    ["/v1/responses", { input: "hi" }],
    ["/v1/messages", { messages: [hi], max_tokens: 5 }],
    ["/generate", { inputs: "hi", parameters: { max_new_tokens: 5 } }],
  ] as const;
  for (const [path, body] of small) {
    assert.equal((await client.count(path, JSON.stringify(body))).canary, true, path);
  }
});

test("leaves outputTokens out when the ask is unlimited, and takes it for a canary", async () => {
  const facts = await client.count(
    CHAT,
    JSON.stringify({ messages: [{ role: "user", content: "x" }], stream: true }),
  );
  assert.ok(!("outputTokens" in facts));
  assert.equal(facts.canary, true);
  assert.equal(facts.stream, true);
});

test("counts a picture by a flat cost, never by its bytes", async () => {
  const url = `data:image/png;base64,${"A".repeat(1_000_000)}`;
  const content = [
    { type: "text", text: "What is it?" },
    { type: "image_url", image_url: { url } },
  ];
  const facts = await client.count(
    CHAT,
    JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content }] }),
  );
  assert.equal(facts.images, 1);
  assert.ok(Number(facts.promptTokens) < 1000);
});

test("counts completions: text, lists, ids", async () => {
  const count = async (prompt: unknown) =>
    (await client.count("/v1/completions", JSON.stringify({ model: "qwen3-4b", prompt }))).promptTokens;
  assert.equal(await count("Hello!"), 2);
  assert.equal(await count(["Hello!", "Hello!"]), 4);
  assert.equal(await count([1, 2, 3]), 3);
  assert.equal(await count([[1, 2], [3]]), 3);
});

test("decodes codings for counting only", async () => {
  const text = Buffer.from(BODY);
  for (const [coding, body] of [
    ["gzip", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
  ] as const) {
    assert.equal((await client.count(CHAT, body, { "content-encoding": coding })).promptTokens, 10, coding);
  }
});

test("knows no size for what it can't read, and lets it pass", async () => {
  for (const [path, body, headers] of [
    [CHAT, "not json", {}],
    [CHAT, "", {}],
    [CHAT, '{"messages":[{"role":"user","content":"cut', {}],
    [CHAT, "[]", {}],
    [CHAT, BODY, { "content-encoding": "zstd" }],
    [CHAT, BODY, { "content-encoding": "gzip" }],
    [
      "/v1/audio/transcriptions",
      "--x\r\ncontent-disposition: form-data\r\n\r\n",
      { "content-type": "multipart/form-data; boundary=x" },
    ],
  ] as const) {
    assert.deepEqual(await client.count(path, body, headers), UNKNOWN);
  }
  const facts = await client.count(
    "/v1/rerank",
    JSON.stringify({ model: "e", query: "x", documents: ["y"] }),
  );
  assert.deepEqual(facts, { ...UNKNOWN, model: "e" });
});

test("answers 413 as JSON for a body that is too large once it is decoded", async () => {
  const stream = client.open("count");
  await stream.ask(headersMessage({ ":path": CHAT, "content-encoding": "gzip" }));
  const { immediate_response: reply } = await stream.ask(bodyMessage(gzipSync(Buffer.alloc(50_000_000))));
  assert.equal(reply?.status.code, "PayloadTooLarge");
  assert.equal(reply.details, "llm_breaker_request_body_too_large");
  assert.equal(JSON.parse(Buffer.from(reply.body).toString()).error.code, "request_body_too_large");
});

test("answers a request without a body, a deep nest and half a surrogate pair", async () => {
  const stream = client.open("count");
  const answer = await stream.ask(
    headersMessage({ ":method": "GET", ":path": "/v1/models" }, { isWhole: true }),
  );
  assert.deepEqual(plainMetadata(answer), UNKNOWN);
  const nest = `{"messages":[{"role":"user","content":"x"}],"tools":[${"[".repeat(100_000)}${"]".repeat(100_000)}]}`;
  assert.equal((await client.count(CHAT, nest)).canary, false);
  const facts = await client.count(
    CHAT,
    '{"model":"a\\ud800","messages":[{"role":"user","content":"\\udfff"}]}',
  );
  assert.equal(facts.model, "a\ufffd");
});
