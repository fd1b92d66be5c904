import { JsonScanner, JsonType } from "./json-state";
import { addDigit, equalsText, isDigit, isSpace, skipText } from "./text";

/** Parts of a number, in the order in which they come. */
enum NumberPart {
  EMPTY,
  INTEGER,
  FRACTION,
  EXPONENT,
}

const TRUE: u64 = 0x74727565;
const FALSE: u64 = 0x66616c7365;
const NULL: u64 = 0x6e756c6c;
/** `DONE`, as in `data: [DONE]`. */
export const DONE_WORD: u64 = 0x444f4e45;

/** Starts a number at its first byte, which stays unread. */
export function openNumber(scanner: JsonScanner): void {
  scanner.number = 0;
  scanner.negative = false;
  scanner.numberPart = NumberPart.EMPTY;
}

/** Reads on in a number; true at the first byte that isn't part of it. */
export function readNumber(scanner: JsonScanner): bool {
  const end = scanner.end;
  let at = scanner.at;
  let part = scanner.numberPart;
  let value = scanner.number;
  while (at < end) {
    const byte = load<u8>(at);
    if (isDigit(byte)) {
      if (part <= NumberPart.INTEGER) {
        part = NumberPart.INTEGER;
        value = addDigit(value, byte);
      }
    } else if (byte === 0x2e) {
      part = max<i32>(part, NumberPart.FRACTION);
    } else if ((byte | 0x20) === 0x65) {
      part = NumberPart.EXPONENT;
    } else if (byte === 0x2d) {
      if (part === NumberPart.EMPTY) scanner.negative = true;
    } else if (byte !== 0x2b) {
      break;
    }
    at++;
  }
  scanner.at = at;
  scanner.numberPart = part;
  scanner.number = value;
  return at < end;
}

/**
 * The number as an i32: fractions cut off, too large ones clamped to i32.MAX_VALUE; -1 for negative
 * ones and for those with an exponent, which no client writes for a count.
 */
export function countOf(scanner: JsonScanner): i32 {
  if (scanner.type !== JsonType.NUMBER || scanner.negative) return -1;
  if (scanner.numberPart === NumberPart.EMPTY || scanner.numberPart === NumberPart.EXPONENT) return -1;
  return <i32>min<i64>(scanner.number, <i64>i32.MAX_VALUE);
}

/** Whether a byte can start or go on in a bare word. */
export function isLetter(byte: u8): bool {
  return (byte | 0x20) - 0x61 < 26;
}

/** Reads on in a bare word; true at the first byte that isn't part of it. Keeps the last 8 letters. */
export function readWord(scanner: JsonScanner): bool {
  const end = scanner.end;
  let at = scanner.at;
  let word = scanner.word;
  while (at < end) {
    const byte = load<u8>(at);
    if (!isLetter(byte)) break;
    word = (word << 8) | <u64>byte;
    at++;
  }
  scanner.at = at;
  scanner.word = word;
  return at < end;
}

/** What the word means in JSON. */
export function wordType(word: u64): i32 {
  if (word === TRUE) return JsonType.TRUE;
  if (word === FALSE) return JsonType.FALSE;
  return word === NULL ? JsonType.NULL : JsonType.WORD;
}

/** Whether the bytes are one JSON number, `true`, `false` or `null`, and blanks behind it. */
export function isScalar(ptr: usize, length: i32): bool {
  let end = ptr + <usize>length;
  while (end > ptr && isSpace(load<u8>(end - 1))) end--;
  const size = <i32>(end - ptr);
  return (
    isNumber(ptr, end) ||
    equalsText(ptr, size, "true") ||
    equalsText(ptr, size, "false") ||
    equalsText(ptr, size, "null")
  );
}

function isNumber(ptr: usize, end: usize): bool {
  const first = skipText(ptr, end, "-");
  let at = skipDigits(first, end);
  if (at === first || (load<u8>(first) === 0x30 && at > first + 1)) return false;
  const fraction = skipText(at, end, ".");
  if (fraction > at) {
    at = skipDigits(fraction, end);
    if (at === fraction) return false;
  }
  if (at === end) return true;
  if ((load<u8>(at) | 0x20) !== 0x65) return false;
  const sign = at + 1;
  const exponent = max(skipText(sign, end, "-"), skipText(sign, end, "+"));
  return exponent < end && skipDigits(exponent, end) === end;
}

function skipDigits(at: usize, end: usize): usize {
  while (at < end && isDigit(load<u8>(at))) at++;
  return at;
}
