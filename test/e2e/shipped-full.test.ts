import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { chat, send, sseData } from "../support/client.js";
import { finishEvent, roleEvent, tokenEvent } from "../support/completion.js";
import { CLOSED, type Rig } from "./support/rig.js";
import { startShippedRig } from "./support/shipped-rig.js";

// envoy/full.yaml as it is: own ports, own timers.
let rig: Rig;

before(async () => {
  rig = await startShippedRig("full");
});

beforeEach(() => rig.reset());

after(() => rig?.stop());

test("a JSON answer of 6 MB is 200, byte for byte", async () => {
  rig.gpu.mode = { kind: "bigJson", bytes: 6_000_000 };
  for (let call = 0; call < 3; call++) {
    const answer = await send(`${rig.url}/v1/embeddings`, { body: '{"input":"hi","model":"e"}' });
    assert.equal(answer.status, 200);
    assert.ok(answer.complete);
    assert.equal(Number(answer.headers["content-length"]), answer.body.length);
    assert.equal(JSON.parse(answer.text).choices[0].message.content.length, 6_000_000);
  }
  assert.deepEqual(rig.hits, [3, 0, 0]);
  assert.equal(await rig.counter("gpu", "outcome.failure"), 0);
});

test("a JSON answer of 6 MB without a length is 200 as well", async () => {
  const body = JSON.stringify({ data: "x".repeat(6_000_000) });
  rig.gpu.mode = { kind: "chunks", headers: { "content-type": "application/json" }, writes: [body] };
  const answer = await send(`${rig.url}/v1/embeddings`, { body: '{"input":"hi"}' });
  assert.equal(answer.status, 200);
  assert.ok(answer.text === body, "the body has changed");
  assert.ok((await rig.counter("gpu", "hold_overflow")) >= 1);
  assert.equal(await rig.counter("gpu", "outcome.failure"), 0);
});

const image = `data:image/png;base64,${"A".repeat(1_500_000)}`;
const withImage = [
  { type: "text", text: "What is this?" },
  { type: "image_url", image_url: { url: image } },
];
// Deeply indented lines: 202 bytes for three tokens, so that it fits the primary's context window.
const indented = `${" ".repeat(200)}x
`.repeat(7_430);
const bigBodies = { "with a picture": withImage, "with a long text": indented };

for (const [what, content] of Object.entries(bigBodies)) {
  test(`a request of 1.5 MB ${what} whose primary answers 500 is served by a fallback with its whole body`, async () => {
    rig.gpu.mode = { kind: "status", status: 500 };
    const messages = [{ role: "user", content }];
    const body = JSON.stringify({ model: "qwen3-32b", messages });
    const answer = await send(`${rig.url}/v1/chat/completions`, { body });
    assert.equal(answer.status, 200, answer.text);
    assert.notEqual(answer.headers["x-llm-breaker-backend"], "gpu");
    assert.ok(rig.gpu.arrivals.length > 0, "the primary was never asked");
    for (const { body: seen } of rig.gpu.arrivals) assert.equal(sha256(seen), sha256(Buffer.from(body)));
    const [fallback] = [...rig.small.arrivals, ...rig.public_.arrivals];
    assert.deepEqual(JSON.parse(fallback?.body.toString() ?? "").messages, messages);
  });
}

test("a picture of 200 kB is few tokens: the primary, which works, is the one to answer", async () => {
  const url = `data:image/png;base64,${"A".repeat(200_000)}`;
  const content = [{ type: "image_url", image_url: { url } }];
  const answer = await chat(rig.url, { extra: { messages: [{ role: "user", content }] } });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
});

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

test("20 callers at once whose primary answers 500 and whose fallback takes 1.5 s to its first token are all served", async () => {
  const opened = await rig.counter("gpu", "opened");
  rig.gpu.mode = { kind: "status", status: 500 };
  const late = [
    roleEvent("m"),
    { waitMs: 1_500 },
    tokenEvent("m", "a"),
    finishEvent("m"),
    "data: [DONE]\n\n",
  ];
  rig.small.mode = { kind: "chunks", writes: late };
  const answers = await Promise.all(Array.from({ length: 20 }, () => chat(rig.url, { stream: true })));
  for (const answer of answers) {
    assert.equal(answer.status, 200, answer.text);
    assert.equal(sseData(answer.text).at(-1), "[DONE]");
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  }
  assert.equal(await rig.counter("gpu", "opened"), opened + 1);
});

test("the second tier gets its own model's name, the third its own name, key, host and path", async () => {
  rig.small.mode = { kind: "status", status: 500 };
  await chat(rig.url, { maxTokens: 4096, headers: { authorization: "Bearer CALLERS" } });
  const second = rig.small.arrivals.at(-1);
  const third = rig.public_.arrivals.at(-1);
  assert.equal(second?.headers.authorization, "Bearer CALLERS");
  assert.equal(JSON.parse(second?.body.toString() ?? "").model, "qwen3-4b");
  assert.equal(JSON.parse(second?.body.toString() ?? "").max_tokens, 1024);
  assert.equal(third?.headers.authorization, "Bearer demo-public-api-key");
  assert.equal(third?.headers.host, "api.example.com");
  assert.equal(third?.path, "/v1/chat/completions");
  assert.equal(JSON.parse(third?.body.toString() ?? "").model, "gpt-4o-mini");
});

test("the sick backend is left alone, probed once it may be, tried with a few small requests, and closed", async () => {
  await rig.waitForCause("PROBE_SUCCEEDED", "gpu", 30_000);
  const probes = rig.gpu.arrivals.length;
  assert.ok(probes >= 1);
  const deadline = performance.now() + 60_000;
  while ((await rig.state()) !== CLOSED) {
    assert.ok(performance.now() < deadline, "not closed within a minute");
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, call) => chat(rig.url, { stream: call % 2 === 0 })),
    );
    assert.ok(answers.every(({ status, complete }) => status === 200 && complete));
  }
  assert.equal(await rig.counter("gpu", "closed"), 1);
  assert.equal((await chat(rig.url)).headers["x-llm-breaker-backend"], "gpu");
});
