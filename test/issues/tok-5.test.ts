import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { OPEN, type Rig } from "../e2e/support/rig.js";
import { zstdBomb, zstdRaw } from "../extproc/support/zstd.js";
import { chat, send } from "../support/client.js";
import { assertServiceWell, assertUnchanged, factsOf, startCounted } from "./support/counted.js";

const PATH = "/v1/chat/completions";
const chatOf = (content: string): Buffer =>
  Buffer.from(JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content }] }));

const SMALL = chatOf("Hello!");
const SMALL_TOKENS = 10;
const LARGE = chatOf("Hello! ".repeat(10_000));

let rig: Rig;

before(async () => {
  rig = await startCounted({ policy: ({ breaker }) => Object.assign(breaker, { engineFatal: true }) });
});
beforeEach(() => rig.reset());
after(() => rig.stop());

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const sendCoded = (body: Buffer, coding: string) =>
  send(rig.url + PATH, { body, headers: { "content-encoding": coding } });

const CODINGS: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  "deflate ": (bytes) => deflateRawSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
  zstd: zstdRaw,
  "gzip, gzip": (bytes) => gzipSync(gzipSync(bytes)),
};

for (const [coding, encode] of Object.entries(CODINGS)) {
  test(`TOK-5: ${coding.trim()} is counted and forwarded as it came`, async () => {
    const plain = await send(rig.url + PATH, { body: LARGE });
    for (const [body, tokens] of [
      [SMALL, SMALL_TOKENS],
      [LARGE, factsOf(plain).promptTokens],
    ] as const) {
      rig.reset();
      const coded = encode(body);
      const answer = await sendCoded(coded, coding);
      assertUnchanged(rig, answer, sha256(coded));
      assert.equal(rig.gpu.arrivals[0]?.headers["content-encoding"], coding.trim());
      assert.equal(factsOf(answer).promptTokens, tokens);
    }
    assertServiceWell(rig);
  });
}

test("TOK-5: what can't be decoded is forwarded as it came, of unknown size", async () => {
  for (const [coding, body] of [
    ["gzip", SMALL],
    ["zstd", SMALL],
    ["br", SMALL],
    ["compress", SMALL],
    ["gzip", gzipSync(SMALL).subarray(0, -9)],
    ["gzip, gzip, gzip", gzipSync(gzipSync(gzipSync(SMALL)))],
  ] as const) {
    rig.reset();
    const answer = await sendCoded(body, coding);
    assertUnchanged(rig, answer, sha256(body));
    assert.equal(factsOf(answer).promptTokens, undefined, coding);
    assert.equal(factsOf(answer).canary, false);
  }
  assertServiceWell(rig);
});

function residentBytes(pid: number): number {
  const pages = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(pages) * 1024;
}

test("TOK-5: a bomb is 413 as JSON, in bounded memory, and nobody's failure", async () => {
  // A gzip file may have many members: 64 of 16 MiB are 1 GiB.
  const member = gzipSync(Buffer.alloc(16_777_216));
  const bombs = {
    gzip: Buffer.concat(Array<Buffer>(64).fill(member)),
    br: brotliCompressSync(Buffer.alloc(17_000_000)),
    zstd: zstdBomb(8192),
  };
  const pid = rig.service?.pid ?? -1;
  const before = residentBytes(pid);
  for (const [coding, body] of Object.entries(bombs)) {
    const answers = await Promise.all(Array.from({ length: 4 }, () => sendCoded(body, coding)));
    for (const answer of answers) {
      assert.equal(answer.status, 413, `${coding}: ${answer.text}`);
      const { error } = JSON.parse(answer.text);
      assert.deepEqual([error.code, error.type], ["request_body_too_large", "invalid_request_error"]);
      assert.equal(answer.headers["content-type"], "application/json");
    }
  }
  // Four at a time, each with its output and the copy that makes it one piece.
  assert.ok(residentBytes(pid) - before < 4 * 2 * 16_777_216 + 50_000_000);
  assert.deepEqual(rig.hits, [0, 0, 0]);
  assert.equal(await rig.counter("gpu", "outcome.failure"), 0);
  assert.notEqual(await rig.state(), OPEN);
  assert.equal((await chat(rig.url)).status, 200);
  assertServiceWell(rig);
});
