import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { chat, send } from "../support/client.js";
import { completionJson, finishEvent, tokenEvent } from "../support/completion.js";
import { OutcomeCounts, type Outcomes } from "./support/outcome-counts.js";
import { rawCall } from "./support/raw-call.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { connectionManager } from "./support/shipped-config.js";
import { endedByTrailers } from "./support/trailers.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: neverOpen,
    patch: (config) => {
      connectionManager(config).upgrade_configs = [{ upgrade_type: "websocket" }];
    },
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

/** The outcomes that `work` brought. */
async function outcomesOf(work: () => Promise<void>): Promise<Partial<Outcomes>> {
  const outcomes = new OutcomeCounts(rig);
  await outcomes.news();
  await work();
  return await outcomes.news();
}

test("an answer that ends by trailers is complete and a success", async () => {
  for (const [type, body] of [
    ["text/event-stream", tokenEvent("m", "a") + finishEvent("m")],
    ["application/json", completionJson("m", "a")],
  ] as const) {
    rig.gpu.mode = endedByTrailers(type, [body]);
    const counts = await outcomesOf(async () => {
      const answer = await chat(rig.url, { stream: type === "text/event-stream", timeoutMs: 5_000 });
      assert.equal(answer.status, 200);
      assert.ok(answer.complete, answer.brokenBy);
      assert.equal(answer.text, body);
      assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
    });
    assert.deepEqual(counts, { success: 1 });
  }
});

test("answers without a body pass: HEAD, 204 and an empty 200", async () => {
  const head = await send(`${rig.url}/v1/models`, { method: "HEAD" });
  assert.equal(head.status, 200);
  rig.gpu.mode = { kind: "raw", writes: ["HTTP/1.1 204 No Content\r\n\r\n"] };
  assert.equal((await chat(rig.url, { timeoutMs: 5_000 })).status, 204);
  rig.gpu.mode = { kind: "raw", writes: ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"] };
  const empty = await send(`${rig.url}/health`, { timeoutMs: 5_000 });
  assert.equal(empty.status, 200);
  assert.equal(rig.small.arrivals.length, 0);
});

test("GET /v1/models passes with its bytes, and is no sign of life", async () => {
  const body = '{"object":"list","data":[{"id":"qwen3-32b","object":"model"}]}';
  rig.gpu.mode = { kind: "chunks", headers: { "content-type": "application/json" }, writes: [body] };
  const counts = await outcomesOf(async () => {
    const answer = await send(`${rig.url}/v1/models`);
    assert.equal(answer.status, 200);
    assert.equal(answer.text, body);
    assert.equal(rig.gpu.arrivals[0]?.method, "GET");
  });
  // A server lists its models while the engine behind it is dead.
  assert.deepEqual(counts, { neutral: 1 });
});

test("an upgrade is not held, and its end is no failure", async () => {
  const accept = "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n";
  rig.gpu.mode = { kind: "raw", writes: [accept, "hello from the other side"] };
  const request = [
    "GET /v1/realtime HTTP/1.1",
    "host: x",
    "connection: Upgrade",
    "upgrade: websocket",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version: 13",
  ];
  const counts = await outcomesOf(async () => {
    const answer = await rawCall(rig.url, `${request.join("\r\n")}\r\n\r\n`);
    assert.match(answer, /^HTTP\/1\.1 101 /);
    assert.match(answer, /hello from the other side$/);
  });
  assert.equal(counts.failure ?? 0, 0);
});

test("content that is no model's answer passes as it comes, whatever its type", async () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
  for (const type of ["audio/mpeg", "text/plain", "application/octet-stream", "image/png"]) {
    const writes = [bytes, { waitMs: 300 }, bytes];
    rig.gpu.mode = { kind: "chunks", headers: { "content-type": type }, writes };
    const answer = await chat(rig.url);
    assert.deepEqual(answer.body, Buffer.concat([bytes, bytes]), type);
    assert.ok((answer.firstByteMs ?? 9e9) < answer.totalMs - 150, `${type} was held`);
  }
  assert.deepEqual(rig.hits, [4, 0, 0]);
});

test("a compressed answer passes unread and counts by its status", async () => {
  const body = gzipSync(completionJson("m", "a"));
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  rig.gpu.mode = { kind: "chunks", headers, writes: [body] };
  const counts = await outcomesOf(async () => {
    const answer = await chat(rig.url);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, body);
  });
  assert.deepEqual(counts, { success: 1 });
});

for (const status of [302, 400, 401, 403, 404, 413, 422]) {
  test(`${status} is passed on untouched and counts for nothing`, async () => {
    const body = `{"error":{"message":"only ${status} knows","code":"invalid_prompt"}}`;
    rig.gpu.mode = {
      kind: "status",
      status,
      body,
      headers: { "content-type": "application/json", "x-own": "1" },
    };
    const counts = await outcomesOf(async () => {
      const answer = await chat(rig.url);
      assert.equal(answer.status, status);
      assert.equal(answer.text, body);
      assert.equal(answer.headers["x-own"], "1");
    });
    assert.deepEqual(counts, { neutral: 1 });
    assert.deepEqual(rig.hits, [1, 0, 0]);
  });
}

test("a compressed request and a chunked one reach the backend byte for byte", async () => {
  const plain = Buffer.from(
    JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content: "hi" }] }),
  );
  const coded = gzipSync(plain);
  await send(`${rig.url}/v1/chat/completions`, { body: coded, headers: { "content-encoding": "gzip" } });
  await send(`${rig.url}/v1/chat/completions`, { body: plain, chunked: true });
  assert.deepEqual(rig.gpu.arrivals[0]?.body, coded);
  assert.deepEqual(rig.gpu.arrivals[1]?.body, plain);
});
