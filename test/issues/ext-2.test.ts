import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { OPEN, type Rig } from "../e2e/support/rig.js";
import { chat, send } from "../support/client.js";
import { completionJson } from "../support/completion.js";
import { assertServiceWell, assertUnchanged, factsOf, startCounted } from "./support/counted.js";

const MIB = 1_048_576;
const SIZES = [32_767, 32_768, 32_769, MIB - 1, MIB, MIB + 1, 4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 15_000_000];
/** The largest text that is tokenized; of more, its bytes are the bound. */
const TEXT_LIMIT = 262_144;
const EMPTY = JSON.stringify({
  model: "qwen3-32b",
  messages: [{ role: "user", content: "" }],
  max_tokens: 5,
});
/** One token each, as the vocabulary has it. */
const WORD = " hello";

let rig: Rig;

before(async () => {
  rig = await startCounted({
    // So that a place that is not given back is missed.
    policy: ({ backends }) => Object.assign(backends.gpu ?? {}, { maxConcurrentCalls: 1 }),
  });
});
beforeEach(() => rig.reset());
after(() => rig.stop());

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

function bodyOf(bytes: number): string {
  const text = WORD.repeat(Math.ceil(bytes / WORD.length)).slice(0, bytes - EMPTY.length);
  return EMPTY.replace('"content":""', `"content":"${text}"`);
}

test("EXT-2: bodies of every size up to 15 MB are counted and arrive whole, with a content-length or not", async () => {
  for (const bytes of SIZES) {
    const body = bodyOf(bytes);
    const textBytes = bytes - EMPTY.length;
    for (const chunked of [false, true]) {
      rig.reset();
      const answer = await send(`${rig.url}/v1/chat/completions`, { body, chunked });
      assertUnchanged(rig, answer, sha256(body));
      const { promptTokens, exact } = factsOf(answer);
      const tokens = Number(promptTokens);
      if (textBytes <= TEXT_LIMIT) {
        // Marks of the template, and what the last word was cut to.
        assert.ok(Math.abs(tokens - textBytes / WORD.length) < 20, `${tokens} of ${bytes}`);
        assert.equal(exact, true);
      } else {
        assert.ok(tokens >= textBytes && tokens < textBytes + 1000, `${tokens} of ${bytes}`);
        assert.equal(exact, false);
      }
    }
  }
  assertServiceWell(rig);
});

test("EXT-2: bodies of every size are rewritten whole where a backend asks for it", async () => {
  for (const bytes of SIZES) {
    rig.reset();
    rig.gpu.mode = { kind: "status", status: 500 };
    const body = bodyOf(bytes);
    const answer = await send(`${rig.url}/v1/chat/completions`, { body });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
    const { model } = JSON.parse(rig.small.arrivals[0]?.body.toString() ?? "{}");
    const renamed = body.replace('"qwen3-32b"', JSON.stringify(model));
    assert.notEqual(model, "qwen3-32b");
    assert.equal(rig.small.arrivals[0]?.bodySha256, sha256(renamed), `${bytes}`);
    assert.equal(rig.small.arrivals[0]?.headers["content-length"], String(renamed.length));
  }
  assertServiceWell(rig);
});

test("EXT-2: above 16 MiB callers get 413 as JSON, nobody's failure, and no permit is kept", async () => {
  const failures = await rig.counter("gpu", "outcome.failure");
  for (const bytes of [16 * MIB + 1, 20_000_000]) {
    const answer = await send(`${rig.url}/v1/chat/completions`, { body: bodyOf(bytes) });
    // Envoy may close before the caller has sent it all; then he sees no answer.
    if (answer.status === 0) continue;
    assert.equal(answer.status, 413);
    assert.equal(answer.headers["content-type"], "application/json");
    assert.equal(typeof JSON.parse(answer.text).error.message, "string");
  }
  const headers = { "content-encoding": "gzip" };
  const bomb = await send(`${rig.url}/v1/chat/completions`, {
    body: gzipSync(bodyOf(16 * MIB + 1)),
    headers,
  });
  assert.equal(bomb.status, 413);
  assert.equal(JSON.parse(bomb.text).error.code, "request_body_too_large");
  assert.deepEqual(rig.hits, [0, 0, 0]);
  assert.equal(await rig.counter("gpu", "outcome.failure"), failures);
  assert.notEqual(await rig.state(), OPEN);
  assert.equal((await chat(rig.url)).headers["x-llm-breaker-backend"], "gpu");
  assertServiceWell(rig);
});

test("EXT-2: a large answer is not the service's business", async () => {
  const body = completionJson("m", "x".repeat(6_000_000));
  rig.gpu.mode = { kind: "chunks", headers: { "content-type": "application/json" }, writes: [body] };
  const answer = await chat(rig.url);
  assert.equal(answer.status, 200);
  assert.equal(sha256(answer.text), sha256(body));
});
