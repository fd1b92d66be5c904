import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, changesOf } from "./support.js";

const metadata = { dialect: "anthropic", model: "claude", maxOutputTokens: "9", answerModel: "caller" };
const chat = Buffer.from('{"model":"mine","messages":[{"role":"user","content":"hi"}],"seed":1}');

async function send(body: Buffer, path: string) {
  const job = begin(metadata, { ":path": path, "content-length": String(body.length) });
  job.onRequestHeaders(false);
  return { job, sent: changesOf(await job.onRequestBody(body, true)) };
}

const ADAPTED = { "x-llm-breaker-adapted": "1" };

async function answer(status: number, type: string, body: string) {
  const { job } = await send(chat, "/v1/chat/completions");
  const headers = new Map([[":status", String(status)]]);
  if (type) headers.set("content-type", type);
  const head = changesOf((await job.onResponseHeaders?.(status, headers, false)) ?? {});
  const first = changesOf((await job.onResponseBody?.(Buffer.from(body), false)) ?? {});
  const last = changesOf((await job.onResponseBody?.(Buffer.alloc(0), true)) ?? {});
  return { head, bodies: [first.body, last.body] };
}

test("a chat goes out as Messages, by the cluster's other rules", async () => {
  const { sent } = await send(chat, "/claude/v1/chat/completions?beta=true");
  assert.deepEqual(JSON.parse(sent.body ?? ""), {
    model: "claude",
    max_tokens: 9,
    messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  });
  assert.deepEqual(sent.set, {
    "x-llm-breaker-rewritten": "1",
    "anthropic-version": "2023-06-01",
    ":path": "/claude/v1/messages?beta=true",
    "content-length": String(Buffer.byteLength(sent.body ?? "")),
  });
  assert.equal(sent.more, true);
});

test("what has no counterpart there is not marked", async () => {
  const untouched = { body: undefined, set: {}, removed: [], more: false };
  for (const path of ["/v1/embeddings", "/v1/completions", "/v1/messages"]) {
    assert.deepEqual((await send(chat, path)).sent, untouched);
  }
  const sound = Buffer.from('{"messages":[{"role":"user","content":[{"type":"input_audio"}]}]}');
  for (const body of [Buffer.from("[]"), Buffer.from("{}"), sound]) {
    assert.deepEqual((await send(body, "/v1/chat/completions")).sent, untouched);
  }
  const deep = Buffer.from(`{"messages":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
  assert.deepEqual((await send(deep, "/v1/chat/completions")).sent, untouched);
});

test("a large body is translated as well, and a large one that can't be is not marked", async () => {
  const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(500_000)}` } };
  const large = Buffer.from(JSON.stringify({ messages: [{ role: "user", content: [picture] }] }));
  const { sent } = await send(large, "/v1/chat/completions");
  const { messages } = JSON.parse(sent.body ?? "{}");
  assert.equal(messages[0].content[0].source.data.length, 500_000);
  const odd = Buffer.from(large.toString().replace("image_url", "sound_url"));
  assert.deepEqual((await send(odd, "/v1/chat/completions")).sent.set, {});
});

test("the answer comes back as a chat's, whole or streamed", async () => {
  const message = '{"type":"message","model":"claude","content":[],"stop_reason":"end_turn"}';
  const whole = await answer(200, "application/json", message);
  assert.deepEqual(whole.head.set, ADAPTED);
  assert.equal(whole.bodies[0], "");
  assert.equal(JSON.parse(whole.bodies[1] ?? "").model, "mine");
  const streamed = await answer(200, "text/event-stream; charset=utf-8", 'data: {"type":"ping"}\n\n');
  assert.deepEqual(streamed.head.set, ADAPTED);
  assert.deepEqual(streamed.bodies, [": ping\n\n", undefined]);
});

test("an error comes back as OpenAI's JSON, whatever its type", async () => {
  const { head, bodies } = await answer(529, "text/html", "<html>");
  assert.deepEqual(head.set, { ...ADAPTED, "content-type": "application/json" });
  assert.equal(JSON.parse(bodies[1] ?? "").error.message, "The backend answered with status 529.");
});

test("an answer of another kind passes unmarked", async () => {
  for (const type of ["", "text/html"]) {
    const { head, bodies } = await answer(200, type, "x");
    assert.deepEqual(head, { body: undefined, set: {}, removed: [], more: false });
    assert.deepEqual(bodies, [undefined, undefined]);
  }
});
