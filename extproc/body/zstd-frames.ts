const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
/** What RFC 8878 recommends that every decoder supports; a larger window is memory that a stranger asks for. */
const MAX_WINDOW_BYTES = 8 * 1024 * 1024;
/** Encoders write one. */
const MAX_FRAMES = 64;
const MAX_BLOCK_BYTES = 128 * 1024;
const CHECKSUM_BYTES = 4;
const RLE_BLOCK = 1;
const RESERVED_BLOCK = 3;
/** By the header's two-bit flag; flag 0 has one byte in a single-segment frame. */
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;

export type FramesVerdict = "fine" | "broken" | "tooLarge";

/**
 * Walks the headers of frames and blocks (RFC 8878, 3.1) and decodes nothing, so that a decoder that trusts them can
 * be let loose: windows are bounded, content that says it is over the limit is believed, dictionaries are refused.
 */
export function checkFrames(bytes: Buffer, maxBytes: number): FramesVerdict {
  let at = 0;
  for (let frames = 0; at < bytes.length; frames++) {
    if (frames === MAX_FRAMES || at + 8 > bytes.length) return "broken";
    const magic = bytes.readUInt32LE(at);
    if (magic >>> 4 === SKIPPABLE_MAGIC >>> 4) {
      at += 8 + bytes.readUInt32LE(at + 4);
      continue;
    }
    const header = magic === FRAME_MAGIC ? readHeader(bytes, at + 4) : undefined;
    if (header === undefined) return "broken";
    if (header.contentBytes > maxBytes) return "tooLarge";
    if (header.windowBytes > Math.max(MAX_WINDOW_BYTES, header.contentBytes)) return "broken";
    at = endOfBlocks(bytes, header.end);
    if (at === -1) return "broken";
    if (header.hasChecksum) at += CHECKSUM_BYTES;
  }
  return at === bytes.length && at > 0 ? "fine" : "broken";
}

interface FrameHeader {
  end: number;
  windowBytes: number;
  /** 0 when it is not told. */
  contentBytes: number;
  hasChecksum: boolean;
}

function readHeader(bytes: Buffer, from: number): FrameHeader | undefined {
  const descriptor = bytes[from] ?? 0;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const isReserved = (descriptor & 0x08) !== 0;
  const hasDictionary = (descriptor & 0x03) !== 0;
  if (isReserved || hasDictionary) return undefined;
  let at = from + 1;
  let windowBytes = 0;
  if (!isSingleSegment) {
    const window = bytes[at++] ?? 0;
    windowBytes = 2 ** (10 + (window >> 3)) * (1 + (window & 7) / 8);
  }
  const sizeBytes = CONTENT_SIZE_BYTES[descriptor >> 6] || (isSingleSegment ? 1 : 0);
  if (at + sizeBytes > bytes.length) return undefined;
  const contentBytes = readContentSize(bytes, at, sizeBytes);
  const hasChecksum = (descriptor & 0x04) !== 0;
  return { end: at + sizeBytes, windowBytes: windowBytes || contentBytes, contentBytes, hasChecksum };
}

function readContentSize(bytes: Buffer, at: number, sizeBytes: number): number {
  if (sizeBytes === 0) return 0;
  if (sizeBytes === 8) return Number(bytes.readBigUInt64LE(at));
  return bytes.readUIntLE(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
}

/** The index after the last block; -1 when there is none. */
function endOfBlocks(bytes: Buffer, from: number): number {
  for (let at = from; at + 3 <= bytes.length; ) {
    const header = bytes.readUIntLE(at, 3);
    const type = (header >> 1) & 3;
    const size = header >> 3;
    if (type === RESERVED_BLOCK || size > MAX_BLOCK_BYTES) return -1;
    at += 3 + (type === RLE_BLOCK ? 1 : size);
    if ((header & 1) === 1) return at;
  }
  return -1;
}
