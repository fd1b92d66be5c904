// Where text stops being plain. Each search looks at 16 bytes at a time and never reads at or past `end`.

const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5c;
const LF: u8 = 0x0a;
const CR: u8 = 0x0d;

/** First `"` or `\` in [at, end), or `end`. */
export function findStringStop(at: usize, end: usize): usize {
  while (at + 16 <= end) {
    const block = v128.load(at);
    const quotes = i8x16.eq(block, i8x16.splat(QUOTE));
    const backslashes = i8x16.eq(block, i8x16.splat(BACKSLASH));
    const mask = i8x16.bitmask(v128.or(quotes, backslashes));
    if (mask !== 0) return at + <usize>ctz(mask);
    at += 16;
  }
  while (at < end) {
    const byte = load<u8>(at);
    if (byte === QUOTE || byte === BACKSLASH) return at;
    at++;
  }
  return end;
}

/** First `"`, bracket or brace in [at, end), or `end`. */
export function findStructure(at: usize, end: usize): usize {
  while (at + 16 <= end) {
    const block = v128.load(at);
    // Bit 0x20 is all that tells `[` from `{` and `]` from `}`.
    const folded = v128.or(block, i8x16.splat(0x20));
    const opens = i8x16.eq(folded, i8x16.splat(0x7b));
    const closes = i8x16.eq(folded, i8x16.splat(0x7d));
    const quotes = i8x16.eq(block, i8x16.splat(QUOTE));
    const mask = i8x16.bitmask(v128.or(v128.or(opens, closes), quotes));
    if (mask !== 0) return at + <usize>ctz(mask);
    at += 16;
  }
  while (at < end) {
    const byte = load<u8>(at);
    const folded: u8 = byte | 0x20;
    if (byte === QUOTE || folded === 0x7b || folded === 0x7d) return at;
    at++;
  }
  return end;
}

/** First LF or CR in [at, end), or `end`. */
export function findLineEnd(at: usize, end: usize): usize {
  while (at + 16 <= end) {
    const block = v128.load(at);
    const feeds = i8x16.eq(block, i8x16.splat(LF));
    const returns = i8x16.eq(block, i8x16.splat(CR));
    const mask = i8x16.bitmask(v128.or(feeds, returns));
    if (mask !== 0) return at + <usize>ctz(mask);
    at += 16;
  }
  while (at < end) {
    const byte = load<u8>(at);
    if (byte === LF || byte === CR) return at;
    at++;
  }
  return end;
}

/** First `byte` in [at, end), or `end`. */
export function findByte(at: usize, end: usize, byte: u8): usize {
  while (at + 16 <= end) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(byte)));
    if (mask !== 0) return at + <usize>ctz(mask);
    at += 16;
  }
  while (at < end && load<u8>(at) !== byte) at++;
  return at;
}
