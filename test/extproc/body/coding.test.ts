import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { decodeBody } from "../../../extproc/body/coding.js";

const TEXT = Buffer.from('{"model":"x"}');
const LIMIT = 1_000_000;

test("undoes gzip, deflate in both of its spellings, br, and two layers", async () => {
  for (const [coding, bytes] of [
    ["gzip", gzipSync(TEXT)],
    ["X-GZIP", gzipSync(TEXT)],
    ["deflate", deflateSync(TEXT)],
    ["deflate", deflateRawSync(TEXT)],
    ["br", brotliCompressSync(TEXT)],
    ["gzip, gzip", gzipSync(gzipSync(TEXT))],
    ["gzip, br", brotliCompressSync(gzipSync(TEXT))],
    ["identity", TEXT],
    ["", TEXT],
  ] as const) {
    assert.deepEqual(await decodeBody(bytes, coding, LIMIT), TEXT, coding);
  }
});

test("gives up on unknown codings, on bytes that don't fit and on too many layers", async () => {
  assert.equal(await decodeBody(TEXT, "zstd", LIMIT), undefined);
  assert.equal(await decodeBody(TEXT, "gzip", LIMIT), undefined);
  assert.equal(await decodeBody(gzipSync(TEXT).subarray(0, 15), "gzip", LIMIT), undefined);
  assert.equal(await decodeBody(gzipSync(gzipSync(gzipSync(TEXT))), "gzip, gzip, gzip", LIMIT), undefined);
});

test("stops a bomb at the limit, so that its output never exists", async () => {
  const bomb = gzipSync(Buffer.alloc(100_000_000));
  const before = process.memoryUsage().rss;
  assert.equal(await decodeBody(bomb, "gzip", LIMIT), undefined);
  assert.ok(process.memoryUsage().rss - before < 50_000_000);
});

test("holds plain bodies to the same limit", async () => {
  assert.equal(await decodeBody(TEXT, undefined, TEXT.length - 1), undefined);
});
