import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decodeZstd } from "../../../extproc/body/zstd.js";
import { checkFrames } from "../../../extproc/body/zstd-frames.js";
import { zstdBlock, zstdBomb, zstdRaw, zstdRuns } from "../support/zstd.js";

const LIMIT = 1_000_000;

/** `zstd -19` of the text below, as the reference tool wrote it: a compressed block and a checksum. */
const REFERENCE = Buffer.from("KLUv/QRorQAAcHsibW9kZWwiOiJ4In0gAQCroppKBhsjfQ==", "base64");

test("takes frames within the limits and no others", () => {
  const raw = zstdRaw(Buffer.from("abc"));
  assert.equal(checkFrames(raw, LIMIT), "fine");
  assert.equal(checkFrames(Buffer.concat([raw, raw]), LIMIT), "fine");
  assert.equal(checkFrames(zstdRaw(Buffer.alloc(100)), 99), "tooLarge");
  assert.equal(checkFrames(zstdRuns("a", 1, 1, 13), LIMIT), "fine");
  const frames = (count: number) => Buffer.concat(Array<Buffer>(count).fill(raw));
  const broken: Record<string, Buffer> = {
    nothing: Buffer.alloc(0),
    "another magic": Buffer.from("not zstd at all"),
    "a cut block": raw.subarray(0, -1),
    "bytes after the end": Buffer.concat([raw, Buffer.from("x")]),
    "a window over 8 MiB": zstdRuns("a", 1, 1, 14),
    "a dictionary": Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x21, 1, 1, 1, 0, 0]),
    "a reserved bit": Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x28, 1, 1, 0, 0, 0]),
    "too many frames": frames(65),
    "a skippable frame over the end": Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff]),
  };
  for (const [name, bytes] of Object.entries(broken)) assert.equal(checkFrames(bytes, LIMIT), "broken", name);
  assert.equal(checkFrames(frames(64), LIMIT), "fine");
});

test("reads what the reference tool writes", async () => {
  const decoded = await decodeZstd(REFERENCE, LIMIT);
  assert.equal(decoded?.kind === "plain" && decoded.bytes.toString(), '{"model":"x"} '.repeat(50));
});

test("stops where the output passes the limit, whatever the header says", async () => {
  assert.deepEqual(await decodeZstd(zstdBomb(8), 131_072 * 8 - 1), { kind: "tooLarge" });
  assert.equal((await decodeZstd(zstdBomb(8), 131_072 * 8))?.kind, "plain");
});

test("ends a decoder that a block keeps busy, and reads the next body", async () => {
  // No literals; 65,279 sequences; every table is one symbol: copy 131,074 bytes from 4 bytes before, each time.
  const head = Buffer.from([0x00, 0xff, 0xff, 0x7f, 0x54, 0, 0, 52]);
  const busy = zstdBlock(Buffer.concat([head, Buffer.alloc(131_000, 0xff)]));
  const startedAt = performance.now();
  assert.equal(await decodeZstd(busy, LIMIT), undefined);
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs > 900 && tookMs < 3000, `${tookMs} ms`);
  assert.equal((await decodeZstd(REFERENCE, LIMIT))?.kind, "plain");
});

test("never throws nor takes for ever on hostile blocks", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (noise) => {
      const startedAt = performance.now();
      await decodeZstd(zstdBlock(Buffer.from(noise)), LIMIT);
      assert.ok(performance.now() - startedAt < 3000);
    }),
    { numRuns: 300 },
  );
});
