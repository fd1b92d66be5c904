// Raw bytes against ASCII literals. A literal's characters are 16 bits wide in memory, so its size in
// bytes is `text.length << 1`; none of these functions allocates or reads outside [ptr, ptr + length).

/** Whether the bytes start with `text` (ASCII). */
export function startsWith(ptr: usize, length: i32, text: string): bool {
  const size = text.length;
  if (length < size) return false;
  const literal = changetype<usize>(text);
  if (size < 4) {
    for (let i = 0; i < size; i++) {
      if (<u16>load<u8>(ptr + <usize>i) !== load<u16>(literal + ((<usize>i) << 1))) return false;
    }
    return true;
  }
  const last: usize = size - 4;
  for (let i: usize = 0; i < last; i += 4) {
    if (widen(load<u32>(ptr + i)) !== load<u64>(literal + (i << 1))) return false;
  }
  // The last four overlap those before them, so that no shorter step is needed.
  return widen(load<u32>(ptr + last)) === load<u64>(literal + (last << 1));
}

/** The first 8 of `length` bytes as one number. Reads 8 bytes, whatever the length. */
export function wordAt(ptr: usize, length: i32): u64 {
  return load<u64>(ptr) & (u64.MAX_VALUE >> ((<u64>max(8 - length, 0)) << 3));
}

/** The number that `wordAt` reads of `text` (ASCII). */
export function wordOf(text: string): u64 {
  let word: u64 = 0;
  for (let i = min(text.length, 8) - 1; i >= 0; i--) word = (word << 8) | <u64>text.charCodeAt(i);
  return word;
}

/** Past `text` (ASCII) when the bytes in [at, end) start with it, else `at`. */
export function skipText(at: usize, end: usize, text: string): usize {
  return startsWith(at, <i32>(end - at), text) ? at + <usize>text.length : at;
}

const ODD_PAIRS: u64 = 0x0000_ffff_0000_ffff;
const ODD_BYTES: u64 = ((<u64>0x00ff_00ff) << 32) | 0x00ff_00ff;

/** Four bytes as four 16-bit characters. */
function widen(bytes: u32): u64 {
  const pairs = (((<u64>bytes) << 16) | <u64>bytes) & ODD_PAIRS;
  return ((pairs << 8) | pairs) & ODD_BYTES;
}

/** Whether the bytes are exactly `text` (ASCII). */
export function equalsText(ptr: usize, length: i32, text: string): bool {
  return length === text.length && startsWith(ptr, length, text);
}

/** Whether the bytes are `text` (ASCII) when letters of either case count as the same. */
export function equalsIgnoreCase(ptr: usize, length: i32, text: string): bool {
  if (length !== text.length) return false;
  const literal = changetype<usize>(text);
  for (let i = 0; i < length; i++) {
    const byte = lower(load<u8>(ptr + <usize>i));
    if (byte !== lower(<u8>load<u16>(literal + ((<usize>i) << 1)))) return false;
  }
  return true;
}

/** Past `text` (ASCII) when the bytes in [at, end) start with it in either case, else `at`. */
export function skipIgnoreCase(at: usize, end: usize, text: string): usize {
  const size = text.length;
  return <i32>(end - at) >= size && equalsIgnoreCase(at, size, text) ? at + <usize>size : at;
}

/** Whether `text` (ASCII, not empty), in either case, stands in [at, end) and begins before `limit`. */
export function containsWithin(at: usize, end: usize, text: string, limit: usize): bool {
  const last = min(end, limit);
  for (let from = at; from < last; from++) {
    if (skipIgnoreCase(from, end, text) > from) return true;
  }
  return false;
}

/** The ASCII letter in lower case; any other byte as it is. */
export function lower(byte: u8): u8 {
  return byte - 0x41 < 26 ? byte | 0x20 : byte;
}

/** A letter, digit or underscore, as `\w` of a regular expression. */
export function isWord(byte: u8): bool {
  return isDigit(byte) || (byte | 0x20) - 0x61 < 26 || byte === 0x5f;
}

/** An ASCII digit. */
export function isDigit(byte: u8): bool {
  return byte - 0x30 < 10;
}

/** An ASCII blank: space, tab, LF, VT, FF, CR. */
export function isSpace(byte: u8): bool {
  return byte === 0x20 || byte - 9 < 5;
}

/**
 * The decimal number that the bytes spell (digits only, no sign), or -1 when they are no number.
 * Larger numbers than an i32 holds come back as i32.MAX_VALUE.
 */
export function parseDecimal(ptr: usize, length: i32): i32 {
  if (length <= 0) return -1;
  let value: i64 = 0;
  for (let i = 0; i < length; i++) {
    const byte = load<u8>(ptr + <usize>i);
    if (!isDigit(byte)) return -1;
    value = addDigit(value, byte);
  }
  return <i32>min<i64>(value, <i64>i32.MAX_VALUE);
}

/** `value` with one more decimal digit; stays put once it is past any i32, so it can't overflow. */
export function addDigit(value: i64, digit: u8): i64 {
  return value > <i64>u32.MAX_VALUE ? value : value * 10 + <i64>(digit - 0x30);
}
