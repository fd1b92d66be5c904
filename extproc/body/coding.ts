import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from "node:zlib";

type Decoder = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

const inflateZlib = promisify(inflate) as Decoder;
const inflateBare = promisify(inflateRaw) as Decoder;

/** "deflate" is zlib by the RFC and bare in the wild; the low nibble of a zlib header's first byte is 8. */
const inflateEither: Decoder = (bytes, options) =>
  ((bytes[0] ?? 0) & 0x0f) === 8 ? inflateZlib(bytes, options) : inflateBare(bytes, options);

const DECODERS = new Map<string, Decoder>([
  ["gzip", promisify(gunzip) as Decoder],
  ["x-gzip", promisify(gunzip) as Decoder],
  ["deflate", inflateEither],
  ["br", promisify(brotliDecompress) as Decoder],
]);

/** More layers than anyone sends; each costs up to the limit in memory. */
const MAX_LAYERS = 2;

/**
 * Undoes the codings of a `content-encoding` value, off the event loop and never beyond `maxBytes` of output
 * (a 1 MB bomb stops there). Undefined when a coding is unknown, the bytes don't fit it or the limit is passed.
 */
export async function decodeBody(
  body: Buffer,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const codings = listCodings(contentEncoding);
  if (codings.length > MAX_LAYERS) return undefined;
  let bytes = body;
  for (const coding of codings.reverse()) {
    const decode = DECODERS.get(coding);
    if (decode === undefined) return undefined;
    try {
      bytes = await decode(bytes, { maxOutputLength: maxBytes });
    } catch {
      return undefined;
    }
  }
  return bytes.length <= maxBytes ? bytes : undefined;
}

/** The codings in the order in which they were applied, `identity` left out. */
export function listCodings(contentEncoding: string | undefined): string[] {
  return (contentEncoding ?? "")
    .split(",")
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "" && coding !== "identity");
}
