import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { chat, send } from "../support/client.js";
import { completionJson } from "../support/completion.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: (policy) => {
      neverOpen(policy);
      for (const backend of Object.values(policy.backends)) delete backend.contextWindow;
    },
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

function bodyOf(bytes: number): string {
  const empty = JSON.stringify({ model: "m", messages: [{ role: "user", content: "" }], max_tokens: 1 });
  return empty.replace('"content":""', `"content":"${"x".repeat(bytes - empty.length)}"`);
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

for (const bytes of [32_768, 32_769, 1_048_576, 1_048_577, 2_097_153, 4_200_000, 15_000_000]) {
  for (const chunked of [false, true]) {
    test(`a ${chunked ? "chunked " : ""}request of ${bytes} bytes arrives whole, at first and after a failover`, async () => {
      const body = bodyOf(bytes);
      const wanted = sha256(body);
      const plain = await send(`${rig.url}/v1/chat/completions`, { body, chunked });
      assert.equal(plain.status, 200, plain.text);
      assert.equal(rig.gpu.arrivals[0]?.bodySha256, wanted);
      rig.gpu.mode = { kind: "status", status: 500 };
      const moved = await send(`${rig.url}/v1/chat/completions`, { body, chunked });
      assert.equal(moved.status, 200, moved.text);
      assert.equal(moved.headers["x-llm-breaker-backend"], "small");
      assert.equal(rig.small.arrivals[0]?.bodyBytes, bytes);
      assert.equal(rig.small.arrivals[0]?.bodySha256, wanted);
    });
  }
}

test("a request over 16 MiB gets 413 as JSON and is nobody's failure", async () => {
  const failures = await rig.counter("gpu", "outcome.failure");
  const answer = await send(`${rig.url}/v1/chat/completions`, { body: bodyOf(18_000_000) });
  // Envoy may close before the client has sent it all; then the client sees no answer.
  if (answer.status !== 0) {
    assert.equal(answer.status, 413);
    assert.equal(typeof JSON.parse(answer.text).error.message, "string");
  }
  assert.deepEqual(rig.hits, [0, 0, 0]);
  assert.equal(await rig.counter("gpu", "outcome.failure"), failures);
});

test("answers in one piece of any size are 200 and unchanged", async () => {
  for (const bytes of [1, 32_768, 262_144, 262_145, 300_000, 2_097_152, 8_000_000]) {
    const body = completionJson("m", "x".repeat(bytes));
    for (const extra of [{}, { "content-length": String(body.length) }] as Record<string, string>[]) {
      rig.gpu.mode = {
        kind: "chunks",
        headers: { "content-type": "application/json", ...extra },
        writes: [body],
      };
      const answer = await chat(rig.url);
      assert.equal(answer.status, 200, `${bytes} bytes`);
      assert.equal(sha256(answer.text), sha256(body), `${bytes} bytes`);
    }
  }
  assert.deepEqual(rig.hits.slice(1), [0, 0]);
});

test("an error answer of any size is failed over", async () => {
  for (const bytes of [0, 1_000, 70_000, 3_000_000]) {
    rig.reset();
    const body = bytes === 0 ? "" : JSON.stringify({ error: { message: "x".repeat(bytes) } });
    rig.gpu.mode = { kind: "status", status: 500, body };
    const answer = await chat(rig.url);
    assert.equal(answer.status, 200, `${bytes} bytes`);
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  }
});

test("a slow upload is not the backend's time", async () => {
  const failures = await rig.counter("gpu", "outcome.failure");
  const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "hello" }] });
  const { hostname, port } = new URL(rig.url);
  const socket = connect(Number(port), hostname);
  let received = "";
  socket.setEncoding("latin1");
  socket.on("data", (text) => {
    received += text;
  });
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    "host: x",
    "connection: close",
    `content-length: ${body.length}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  // Twice the first-token limit.
  for (const part of [body.slice(0, 20), body.slice(20, 40), body.slice(40)]) {
    await sleep(700);
    socket.write(part);
  }
  await new Promise((resolve) => socket.once("close", resolve));
  assert.match(received, /^HTTP\/1\.1 200/);
  assert.match(received, /x-llm-breaker-backend: gpu/);
  assert.match(received, /x-llm-breaker-attempts: 1/);
  assert.equal(await rig.counter("gpu", "outcome.failure"), failures);
});

test("an interim answer before the real one changes nothing", async () => {
  const body = completionJson("m", "a");
  const hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n";
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  rig.gpu.mode = { kind: "raw", writes: [hints, { waitMs: 100 }, head, body] };
  const answer = await chat(rig.url);
  assert.equal(answer.status, 200);
  assert.equal(answer.text, body);
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
});

test("Expect: 100-continue is answered, and the request served", async () => {
  const body = bodyOf(200_000);
  const answer = await send(`${rig.url}/v1/chat/completions`, { body, headers: { expect: "100-continue" } });
  assert.equal(answer.status, 200);
  assert.equal(rig.gpu.arrivals[0]?.bodySha256, sha256(body));
});
