// Compressed bodies of callers.
import assert from "node:assert/strict";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { decodeBody } from "../../../extproc/body/coding.js";
import { checkFrames } from "../../../extproc/body/zstd-frames.js";
import { zstdBomb, zstdRaw, zstdRuns } from "../../extproc/support/zstd.js";
import { BODIES } from "../corpus/requests.js";
import { sessionOf } from "../support/plain-session.js";
import type { Random } from "../support/random.js";
import { sizeClass } from "../support/told.js";
import type { Target } from "../target.js";

const MAX_BYTES = 65_536;
const plain = BODIES.map((text) => Buffer.from(text));
const bomb = Buffer.alloc(4 * 1024 * 1024);
const ENCODINGS = [
  "gzip",
  "deflate",
  "br",
  "gzip, br",
  "x-gzip",
  "deflate, deflate, gzip",
  "GZIP",
  "identity",
  "zip",
];

const compressors = [gzipSync, deflateSync, deflateRawSync, brotliCompressSync];
const zlibSeeds = [
  ...compressors.flatMap((compress) => plain.slice(0, 4).map((body) => compress(body))),
  ...compressors.map((compress) => compress(bomb)),
  brotliCompressSync(gzipSync(bomb)),
].map((bytes) => Buffer.from(bytes.subarray(0, 6000)));

async function judge(bytes: Buffer, encoding: string): Promise<string> {
  const decoded = await decodeBody(bytes, encoding, MAX_BYTES);
  if (decoded.kind !== "plain") return decoded.kind === "tooLarge" ? "tooLarge" : "";
  assert.ok(decoded.bytes.length <= MAX_BYTES, "more than the limit");
  return `${encoding},${sizeClass(decoded.bytes.length)}`;
}

export const serviceCodings: Target = {
  name: "service-codings",
  parsers: ["extproc/body/coding.ts"],
  seeds: zlibSeeds,
  maxBytes: 6000,
  caseMs: 500,
  // The limit is on what comes out; to fill it takes as long as zlib takes.
  linearBytes: 0,
  open: sessionOf(async (bytes, random: Random) => judge(bytes, random.pick(ENCODINGS))),
};

const zstdSeeds = [
  ...plain.slice(0, 3).map(zstdRaw),
  zstdRuns("a", 1000, 3),
  zstdRuns("b", 100_000, 2),
  zstdBomb(2),
].map((bytes) => Buffer.from(bytes.subarray(0, 3000)));
/** A thread of its own decodes, which is asked for some only. */
const DECODED_ONE_IN = 64;

export const serviceZstd: Target = {
  name: "service-zstd",
  parsers: ["extproc/body/zstd.ts", "extproc/body/zstd-frames.ts", "extproc/body/zstd-worker.ts"],
  seeds: zstdSeeds,
  maxBytes: 3000,
  caseMs: 500,
  open: sessionOf((bytes, random) => {
    const verdict = checkFrames(bytes, MAX_BYTES);
    if (verdict !== "fine" || !random.oneIn(DECODED_ONE_IN)) return verdict === "broken" ? "" : verdict;
    return judge(bytes, "zstd");
  }),
};
