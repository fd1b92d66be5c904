const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const RAW = 0;
const RLE = 1;

/** A zstd frame that holds `content` (up to 128 KiB) as it is and tells its size. */
export function zstdRaw(content: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(content.length);
  return Buffer.concat([MAGIC, Buffer.from([0xa0]), size, blockHeader(RAW, content.length, true), content]);
}

/** A frame that does not tell its size: `blocks` times a run of `length` equal characters. */
export function zstdRuns(character: string, length: number, blocks: number, window = 0): Buffer {
  const runs = Array.from({ length: blocks }, (_, index) =>
    Buffer.concat([blockHeader(RLE, length, index === blocks - 1), Buffer.from(character)]),
  );
  return Buffer.concat([MAGIC, Buffer.from([0x00, window << 3]), ...runs]);
}

/** `blocks` × 128 KiB of zeros in four bytes each. */
export function zstdBomb(blocks: number): Buffer {
  return zstdRuns("\0", 131_072, blocks, 7);
}

/** A frame with one compressed block, whose bytes are the caller's. */
export function zstdBlock(block: Buffer, window = 7): Buffer {
  return Buffer.concat([MAGIC, Buffer.from([0x00, window << 3]), blockHeader(2, block.length, true), block]);
}

function blockHeader(type: number, size: number, isLast: boolean): Buffer {
  const header = Buffer.alloc(3);
  header.writeUIntLE((size << 3) | (type << 1) | (isLast ? 1 : 0), 0, 3);
  return header;
}
