import { allocate } from "./arena";

/** Immutable bytes with a fixed address: names, keys and bodies the filter gives to the host. */
@final
export class Text {
  readonly ptr: usize;
  readonly length: i32;

  /** @param bytes kept, so that the collector leaves them where they are */
  constructor(readonly bytes: ArrayBuffer) {
    this.ptr = changetype<usize>(bytes);
    this.length = bytes.byteLength;
  }

  static of(value: string): Text {
    return new Text(String.UTF8.encode(value));
  }

  /** A property path: segments are written with `/` and joined with NUL, since metadata keys contain dots. */
  static path(value: string): Text {
    const text = Text.of(value);
    for (let i = 0; i < text.length; i++) {
      if (load<u8>(text.ptr + i) === 0x2f) store<u8>(text.ptr + i, 0);
    }
    return text;
  }

  equals(ptr: usize, length: i32): bool {
    return length === this.length && memory.compare(ptr, this.ptr, length) === 0;
  }

  isPrefixOf(ptr: usize, length: i32): bool {
    return length >= this.length && memory.compare(ptr, this.ptr, this.length) === 0;
  }

  /** Whether the bytes begin with this text, which is written in lower case, in any case. */
  beginsIgnoringCase(ptr: usize, length: i32): bool {
    if (length < this.length) return false;
    for (let i = 0; i < this.length; i++) {
      const byte = load<u8>(ptr + i);
      const isUpper = byte >= 0x41 && byte <= 0x5a;
      if ((isUpper ? byte | 0x20 : byte) !== load<u8>(this.ptr + i)) return false;
    }
    return true;
  }

  endsBytes(ptr: usize, length: i32): bool {
    return length >= this.length && this.equals(ptr + (length - this.length), this.length);
  }

  toString(): string {
    return String.UTF8.decodeUnsafe(this.ptr, this.length);
  }
}

let numberSize: i32 = 0;

/** Writes `value` in decimal to scratch memory; the length is in {@link decimalLength}. 0 when scratch is exhausted. */
export function decimal(value: u64): usize {
  const end = allocate(20);
  if (end === 0) return 0;
  let at = 20;
  do {
    store<u8>(end + --at, <u8>(0x30 + (value % 10)));
    value /= 10;
  } while (value !== 0);
  numberSize = 20 - at;
  return end + at;
}

export function decimalLength(): i32 {
  return numberSize;
}

/** A decimal number of at most 18 digits, or -1 when the bytes are anything else. */
export function parseDecimal(ptr: usize, length: i32): i64 {
  if (length === 0 || length > 18) return -1;
  let value: i64 = 0;
  for (let i = 0; i < length; i++) {
    const digit = <i32>load<u8>(ptr + i) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
