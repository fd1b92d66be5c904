import { closeSync, openSync, readSync } from "node:fs";

type Scalar = string | number | bigint | boolean;
/** What a GGUF file says of its model, by key. Numbers of 64 bits are bigints. */
export type GgufMetadata = ReadonlyMap<string, Scalar | readonly Scalar[]>;

/** The metadata stand at the file's start; a small model's, its vocabulary included, are some megabytes. */
const MAX_METADATA_BYTES = 16 * 1024 * 1024;
const HEADER_BYTES = 16;

enum Type {
  Uint32 = 4,
  Int32 = 5,
  Float32 = 6,
  Bool = 7,
  String = 8,
  Array = 9,
  Uint64 = 10,
}

/**
 * Reads the key-value part of a GGUF v3 file (llama.cpp's format): magic, version, tensor count, then the pairs.
 * @throws when the file is none, or has a type that tokenizers don't need.
 */
export function readGgufMetadata(file: string): GgufMetadata {
  const reader = new Reader(readStart(file));
  if (reader.bytes.toString("latin1", 0, 4) !== "GGUF") throw new Error(`${file} is no GGUF file`);
  const count = Number(reader.bytes.readBigUInt64LE(HEADER_BYTES));
  reader.at = HEADER_BYTES + 8;
  const metadata = new Map<string, Scalar | readonly Scalar[]>();
  for (let index = 0; index < count; index++) {
    const key = reader.string();
    const type = reader.uint32();
    metadata.set(key, type === Type.Array ? reader.array() : reader.scalar(type));
  }
  return metadata;
}

function readStart(file: string): Buffer {
  const bytes = Buffer.alloc(MAX_METADATA_BYTES);
  const handle = openSync(file, "r");
  try {
    return bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(handle);
  }
}

class Reader {
  at = 0;

  constructor(readonly bytes: Buffer) {}

  uint32(): number {
    this.at += 4;
    return this.bytes.readUInt32LE(this.at - 4);
  }

  string(): string {
    const length = Number(this.uint64());
    this.at += length;
    return this.bytes.toString("utf8", this.at - length, this.at);
  }

  array(): Scalar[] {
    const type = this.uint32();
    const length = Number(this.uint64());
    return Array.from({ length }, () => this.scalar(type));
  }

  scalar(type: number): Scalar {
    switch (type) {
      case Type.String:
        return this.string();
      case Type.Uint32:
        return this.uint32();
      case Type.Int32:
        return this.uint32() | 0;
      case Type.Float32:
        this.at += 4;
        return this.bytes.readFloatLE(this.at - 4);
      case Type.Bool:
        this.at += 1;
        return this.bytes[this.at - 1] === 1;
      case Type.Uint64:
        return this.uint64();
      default:
        throw new Error(`GGUF type ${type} is not read`);
    }
  }

  private uint64(): bigint {
    this.at += 8;
    return this.bytes.readBigUInt64LE(this.at - 8);
  }
}
