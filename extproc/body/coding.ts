import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from "node:zlib";
import { Lane } from "../threads/lane.js";
import { decodeZstd } from "./zstd.js";

/** `unreadable`: a coding that is not known, or bytes that don't fit it. `tooLarge`: more output than the limit. */
export type Decoded = { kind: "plain"; bytes: Buffer } | { kind: "unreadable" } | { kind: "tooLarge" };

type Decoder = (bytes: Buffer, maxBytes: number) => Promise<Decoded>;
type ZlibDecoder = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

const UNREADABLE: Decoded = { kind: "unreadable" };
const TOO_LARGE: Decoded = { kind: "tooLarge" };

const inflateZlib = promisify(inflate) as ZlibDecoder;
const inflateBare = promisify(inflateRaw) as ZlibDecoder;

const DECODERS = new Map<string, Decoder>([
  ["gzip", byZlib(promisify(gunzip) as ZlibDecoder)],
  ["x-gzip", byZlib(promisify(gunzip) as ZlibDecoder)],
  ["deflate", byZlib((bytes, options) => (isZlib(bytes) ? inflateZlib : inflateBare)(bytes, options))],
  ["br", byZlib(promisify(brotliDecompress) as ZlibDecoder)],
  ["zstd", async (bytes, maxBytes) => (await decodeZstd(bytes, maxBytes)) ?? UNREADABLE],
]);

/** More layers than anyone sends; each costs up to the limit in memory. */
const MAX_LAYERS = 2;

/** Each body that is decoded may take up to the limit in memory; so many at once, the others wait. */
const places = new Lane(4);
const WAIT_MS = 500;

/** Undoes the codings of a `content-encoding` value, off the event loop; no layer gives more than `maxBytes`. */
export async function decodeBody(
  body: Buffer,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<Decoded> {
  const codings = listCodings(contentEncoding);
  if (codings.length === 0) return withinLimit(body, maxBytes);
  const decoders = codings.reverse().map((coding) => DECODERS.get(coding));
  if (decoders.length > MAX_LAYERS || decoders.includes(undefined)) return UNREADABLE;
  const leave = await places.enter(WAIT_MS);
  if (leave === undefined) return UNREADABLE;
  try {
    return await decodeLayers(body, decoders as Decoder[], maxBytes);
  } finally {
    leave();
  }
}

/** The codings in the order in which they were applied, `identity` left out. */
export function listCodings(contentEncoding: string | undefined): string[] {
  return (contentEncoding ?? "")
    .split(",")
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "" && coding !== "identity");
}

async function decodeLayers(body: Buffer, decoders: readonly Decoder[], maxBytes: number): Promise<Decoded> {
  let decoded: Decoded = { kind: "plain", bytes: body };
  for (const decode of decoders) {
    if (decoded.kind !== "plain") break;
    decoded = await decode(decoded.bytes, maxBytes);
  }
  return decoded.kind === "plain" ? withinLimit(decoded.bytes, maxBytes) : decoded;
}

function withinLimit(bytes: Buffer, maxBytes: number): Decoded {
  return bytes.length > maxBytes ? TOO_LARGE : { kind: "plain", bytes };
}

function byZlib(decode: ZlibDecoder): Decoder {
  return async (bytes, maxBytes) => {
    try {
      return { kind: "plain", bytes: await decode(bytes, { maxOutputLength: maxBytes }) };
    } catch (cause) {
      return (cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? TOO_LARGE : UNREADABLE;
    }
  };
}

/** "deflate" is zlib by the RFC and bare in the wild; a zlib header names method 8 and is a multiple of 31. */
function isZlib(bytes: Buffer): boolean {
  const [first = 0, second = 0] = bytes;
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}
