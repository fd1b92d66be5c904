import { JsonMode, JsonScanner, KindFlag, SCRATCH_SIZE, scratchOf, textOf } from "./json-state";
import { findStringStop } from "./scan";

const QUOTE: u8 = 0x22;
const REPLACEMENT: u32 = 0xfffd;

/** Passes over a string that nobody wants; true when its closing quote was consumed. */
export function skipString(scanner: JsonScanner): bool {
  const end = scanner.end;
  let at = scanner.at;
  // The digits of \uXXXX can't be a quote, so one escaped byte is all that has to be stepped over.
  if (scanner.escape !== 0) {
    at++;
    scanner.escape = 0;
  }
  while (at < end) {
    at = findStringStop(at, end);
    if (at === end) break;
    const byte = load<u8>(at++);
    if (byte === QUOTE) {
      scanner.at = at;
      return true;
    }
    if (at === end) {
      scanner.escape = 1;
      break;
    }
    at++;
  }
  scanner.at = at;
  return false;
}

/** Starts a string whose opening quote was consumed. */
export function openString(scanner: JsonScanner): void {
  scanner.escape = 0;
  scanner.nonEmpty = false;
  scanner.mode = scanner.isKey ? JsonMode.KEY_STRING : JsonMode.STRING;
  if (!isKept(scanner)) return;
  scanner.highSurrogate = 0;
  scanner.truncated = false;
  if (isShort(scanner)) scanner.scratchLength = 0;
  else scanner.textLength = 0;
}

/**
 * Reads on in a string, decoding its escapes into the room that its kind asks for; true when its
 * closing quote was consumed. Unpaired surrogates and bad escapes become U+FFFD or the escaped byte.
 */
export function readString(scanner: JsonScanner): bool {
  if (load<u8>(scanner.at) !== QUOTE) scanner.nonEmpty = true;
  if (!isKept(scanner)) return skipString(scanner);
  const end = scanner.end;
  let at = scanner.at;
  while (at < end) {
    if (scanner.escape !== 0) {
      if (readEscape(scanner, load<u8>(at))) at++;
      continue;
    }
    const stop = findStringStop(at, end);
    if (stop > at) {
      dropSurrogate(scanner);
      append(scanner, at, <i32>(stop - at));
      at = stop;
      continue;
    }
    if (load<u8>(at++) === QUOTE) {
      dropSurrogate(scanner);
      scanner.at = at;
      return true;
    }
    scanner.escape = 1;
  }
  scanner.at = at;
  return false;
}

/** The string's text is wanted. */
function isKept(scanner: JsonScanner): bool {
  return scanner.isKey || (scanner.kind & (KindFlag.SHORT | KindFlag.TEXT)) !== 0;
}

/** It goes to `scratch`, not to the text room. */
function isShort(scanner: JsonScanner): bool {
  return scanner.isKey || (scanner.kind & KindFlag.SHORT) !== 0;
}

/** One byte inside an escape; false when it belongs to what follows. */
function readEscape(scanner: JsonScanner, byte: u8): bool {
  if (scanner.escape === 1) {
    if (byte === 0x75) {
      scanner.escape = 5;
      scanner.codeUnit = 0;
      return true;
    }
    scanner.escape = 0;
    dropSurrogate(scanner);
    appendCodePoint(scanner, <u32>unescape(byte));
    return true;
  }
  const digit = hexDigit(byte);
  if (digit < 0) {
    scanner.escape = 0;
    dropSurrogate(scanner);
    appendCodePoint(scanner, REPLACEMENT);
    return false;
  }
  scanner.codeUnit = (scanner.codeUnit << 4) | <u16>digit;
  scanner.escape--;
  if (scanner.escape === 1) {
    scanner.escape = 0;
    endCodeUnit(scanner, <u32>scanner.codeUnit);
  }
  return true;
}

function endCodeUnit(scanner: JsonScanner, unit: u32): void {
  const high = <u32>scanner.highSurrogate;
  if (high !== 0 && (unit & 0xfc00) === 0xdc00) {
    scanner.highSurrogate = 0;
    appendCodePoint(scanner, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
    return;
  }
  dropSurrogate(scanner);
  if ((unit & 0xfc00) === 0xd800) scanner.highSurrogate = <u16>unit;
  else appendCodePoint(scanner, (unit & 0xfc00) === 0xdc00 ? REPLACEMENT : unit);
}

function dropSurrogate(scanner: JsonScanner): void {
  if (scanner.highSurrogate === 0) return;
  scanner.highSurrogate = 0;
  appendCodePoint(scanner, REPLACEMENT);
}

function unescape(byte: u8): u8 {
  switch (byte) {
    case 0x6e:
      return 0x0a;
    case 0x74:
      return 0x09;
    case 0x72:
      return 0x0d;
    case 0x62:
      return 0x08;
    case 0x66:
      return 0x0c;
    default:
      return byte;
  }
}

function hexDigit(byte: u8): i32 {
  if (byte - 0x30 < 10) return <i32>byte - 0x30;
  const letter: u8 = (byte | 0x20) - 0x61;
  return letter < 6 ? <i32>letter + 10 : -1;
}

function appendCodePoint(scanner: JsonScanner, code: u32): void {
  let bytes: u32 = code;
  let size = 1;
  if (code >= 0x10000) {
    size = 4;
    bytes =
      0xf0 |
      (code >> 18) |
      ((0x80 | ((code >> 12) & 0x3f)) << 8) |
      ((0x80 | ((code >> 6) & 0x3f)) << 16) |
      ((0x80 | (code & 0x3f)) << 24);
  } else if (code >= 0x800) {
    size = 3;
    bytes = 0xe0 | (code >> 12) | ((0x80 | ((code >> 6) & 0x3f)) << 8) | ((0x80 | (code & 0x3f)) << 16);
  } else if (code >= 0x80) {
    size = 2;
    bytes = 0xc0 | (code >> 6) | ((0x80 | (code & 0x3f)) << 8);
  }
  const short = isShort(scanner);
  const length = short ? scanner.scratchLength : scanner.textLength;
  // Half a character is of no use to anyone: the text ends before it, and nothing may follow.
  if (scanner.truncated || length + size > (short ? SCRATCH_SIZE : scanner.textLimit)) {
    scanner.truncated = true;
    return;
  }
  let to = (short ? scratchOf(scanner) : textOf(scanner)) + <usize>length;
  for (let i = 0; i < size; i++) {
    store<u8>(to++, <u8>bytes);
    bytes >>= 8;
  }
  if (short) scanner.scratchLength = length + size;
  else scanner.textLength = length + size;
}

/** Copies plain bytes; what the room can't hold is dropped and `truncated` set. */
function append(scanner: JsonScanner, from: usize, size: i32): void {
  if (scanner.truncated) return;
  const short = isShort(scanner);
  const length = short ? scanner.scratchLength : scanner.textLength;
  const room = (short ? SCRATCH_SIZE : scanner.textLimit) - length;
  if (size > room) {
    scanner.truncated = true;
    size = room;
  }
  copy((short ? scratchOf(scanner) : textOf(scanner)) + <usize>length, from, size);
  if (short) scanner.scratchLength = length + size;
  else scanner.textLength = length + size;
}

function copy(to: usize, from: usize, size: i32): void {
  const end = from + <usize>size;
  while (from + 8 <= end) {
    store<u64>(to, load<u64>(from));
    from += 8;
    to += 8;
  }
  while (from < end) store<u8>(to++, load<u8>(from++));
}
