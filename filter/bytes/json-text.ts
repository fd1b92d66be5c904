/** Bytes that one byte of text may become. */
export const MOST_PER_BYTE: i32 = 6;

const HEX = "0123456789abcdef";
/** U+FFFD in UTF-8, least byte first. */
const REPLACEMENT: u32 = 0xbdbfef;

/**
 * Writes foreign bytes as the inside of a JSON string, which is UTF-8 whatever they are: what is no UTF-8 becomes U+FFFD, byte
 * by byte.
 * @param to room for `MOST_PER_BYTE` times `length`
 * @returns bytes written
 */
export function writeJsonText(to: usize, from: usize, length: i32): i32 {
  const end = from + <usize>length;
  let out = to;
  let at = from;
  while (at < end) {
    const byte = load<u8>(at);
    if (byte < 0x80) {
      out = writeAscii(out, byte);
      at++;
      continue;
    }
    const size = sequenceSize(at, end);
    if (size === 0) {
      store<u16>(out, <u16>REPLACEMENT);
      store<u8>(out + 2, <u8>(REPLACEMENT >> 16));
      out += 3;
      at++;
      continue;
    }
    for (let i: usize = 0; i < <usize>size; i++) store<u8>(out + i, load<u8>(at + i));
    out += <usize>size;
    at += <usize>size;
  }
  return <i32>(out - to);
}

function writeAscii(out: usize, byte: u8): usize {
  if (byte === 0x22 || byte === 0x5c) {
    store<u8>(out++, 0x5c);
  } else if (byte < 0x20 || byte === 0x7f) {
    store<u32>(out, 0x3030_755c); // \u00
    store<u8>(out + 4, <u8>HEX.charCodeAt(byte >> 4));
    store<u8>(out + 5, <u8>HEX.charCodeAt(byte & 15));
    return out + 6;
  }
  store<u8>(out, byte);
  return out + 1;
}

/** Bytes of the UTF-8 sequence that starts here with a byte ≥ 0x80; 0 when it is none (Unicode 15, table 3-7). */
function sequenceSize(at: usize, end: usize): i32 {
  const first = load<u8>(at);
  let size = 2;
  let least: u8 = 0x80;
  let most: u8 = 0xbf;
  if (first < 0xc2 || first > 0xf4) return 0;
  if (first >= 0xf0) {
    size = 4;
    if (first === 0xf0) least = 0x90;
    else if (first === 0xf4) most = 0x8f;
  } else if (first >= 0xe0) {
    size = 3;
    if (first === 0xe0) least = 0xa0;
    else if (first === 0xed) most = 0x9f;
  }
  if (at + <usize>size > end) return 0;
  const second = load<u8>(at + 1);
  if (second < least || second > most) return 0;
  for (let i: usize = 2; i < <usize>size; i++) {
    if ((load<u8>(at + i) & 0xc0) !== 0x80) return 0;
  }
  return size;
}
