import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { decodeBody } from "../../../extproc/body/coding.js";
import { zstdBomb, zstdRaw, zstdRuns } from "../support/zstd.js";

const TEXT = Buffer.from('{"model":"x"}');
const LIMIT = 1_000_000;
const UNREADABLE = { kind: "unreadable" };
const TOO_LARGE = { kind: "tooLarge" };

async function plain(bytes: Buffer, coding: string | undefined, limit = LIMIT): Promise<unknown> {
  const decoded = await decodeBody(bytes, coding, limit);
  return decoded.kind === "plain" ? decoded.bytes.toString("latin1") : decoded;
}

test("undoes gzip, deflate in both of its spellings, br, zstd, and two layers", async () => {
  for (const [coding, bytes] of [
    ["gzip", gzipSync(TEXT)],
    ["X-GZIP", gzipSync(TEXT)],
    ["deflate", deflateSync(TEXT)],
    ["deflate", deflateRawSync(TEXT)],
    ["br", brotliCompressSync(TEXT)],
    ["zstd", zstdRaw(TEXT)],
    ["gzip, gzip", gzipSync(gzipSync(TEXT))],
    ["gzip, br", brotliCompressSync(gzipSync(TEXT))],
    ["gzip,zstd", zstdRaw(gzipSync(TEXT))],
    ["identity", TEXT],
    ["", TEXT],
  ] as const) {
    assert.equal(await plain(bytes, coding), TEXT.toString(), coding);
  }
});

test("gives up on unknown codings, on bytes that don't fit and on too many layers", async () => {
  for (const [coding, bytes] of [
    ["compress", TEXT],
    ["gzip", TEXT],
    ["deflate", TEXT],
    ["br", TEXT],
    ["zstd", TEXT],
    ["gzip", gzipSync(TEXT).subarray(0, 15)],
    ["zstd", zstdRaw(TEXT).subarray(0, 10)],
    ["gzip, gzip, gzip", gzipSync(gzipSync(gzipSync(TEXT)))],
    ["gzip", Buffer.alloc(0)],
  ] as const) {
    assert.deepEqual(await plain(bytes, coding), UNREADABLE, coding);
  }
});

test("stops a bomb at the limit, so that its output never exists", async () => {
  const zeros = Buffer.alloc(100_000_000);
  const bombs = [
    ["gzip", gzipSync(zeros)],
    ["deflate", deflateSync(zeros)],
    ["br", brotliCompressSync(zeros)],
    ["gzip, gzip", gzipSync(gzipSync(zeros))],
    ["zstd", zstdBomb(800)],
  ] as const;
  const before = process.memoryUsage().rss;
  for (const [coding, bomb] of bombs) assert.deepEqual(await plain(bomb, coding), TOO_LARGE, coding);
  assert.ok(process.memoryUsage().rss - before < 60_000_000);
});

test("holds plain bodies to the same limit, to the byte", async () => {
  assert.deepEqual(await plain(TEXT, undefined, TEXT.length - 1), TOO_LARGE);
  assert.equal(await plain(TEXT, undefined, TEXT.length), TEXT.toString());
  assert.equal(await plain(gzipSync(TEXT), "gzip", TEXT.length), TEXT.toString());
  assert.deepEqual(await plain(gzipSync(TEXT), "gzip", TEXT.length - 1), TOO_LARGE);
  assert.equal(await plain(zstdRaw(TEXT), "zstd", TEXT.length), TEXT.toString());
  assert.deepEqual(await plain(zstdRaw(TEXT), "zstd", TEXT.length - 1), TOO_LARGE);
});

test("decodes many bodies at once, some of them bombs, one not hurting the other", async () => {
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  const good = gzipSync(TEXT);
  const found = await Promise.all(
    Array.from({ length: 40 }, (_, index) => plain(index % 2 ? bomb : good, "gzip")),
  );
  assert.equal(found.filter((each) => each === TEXT.toString()).length, 20);
});

test("reads zstd of several frames, with skippable ones between", async () => {
  const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
  const bytes = Buffer.concat([skippable, zstdRaw(Buffer.from("a")), skippable, zstdRuns("b", 3, 2)]);
  assert.equal(await plain(bytes, "zstd"), "abbbbbb");
});

test("never throws, whatever the bytes and the coding", async () => {
  const codings = ["gzip", "deflate", "br", "zstd", "gzip, br", "identity", "x"];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...codings),
      fc.uint8Array({ maxLength: 300 }),
      async (coding, noise) => {
        for (const bytes of [noise, Buffer.concat([gzipSync(TEXT).subarray(0, 12), noise])]) {
          assert.ok((await decodeBody(Buffer.from(bytes), coding, LIMIT)).kind);
        }
      },
    ),
    { numRuns: 300 },
  );
});
