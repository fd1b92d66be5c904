import { isLetter, openNumber, readNumber, readWord, wordType } from "./json-scalar";
import {
  JsonEvent,
  JsonMode,
  JsonScanner,
  JsonType,
  KindFlag,
  MAX_DEPTH,
  parentKind,
  scratchOf,
} from "./json-state";
import { openString, readString, skipString } from "./json-string";
import { findStructure } from "./scan";
import { isDigit } from "./text";

const QUOTE: u8 = 0x22;
const COMMA: u8 = 0x2c;
const COLON: u8 = 0x3a;
const OPEN_ARRAY: u8 = 0x5b;
const OPEN_OBJECT: u8 = 0x7b;
const CLOSE_ARRAY: u8 = 0x5d;
const CLOSE_OBJECT: u8 = 0x7d;

/**
 * Reads on from `at` to the next event that the caller has to know of. O(bytes), whatever they are:
 * each step consumes a byte or moves to a mode that does. Strict where the caller looks, lenient inside
 * skipped values (brackets are counted there, not matched).
 */
export function nextEvent(scanner: JsonScanner): i32 {
  while (scanner.at < scanner.end) {
    const event = step(scanner);
    if (event !== JsonEvent.MORE) return event;
  }
  return JsonEvent.MORE;
}

function step(scanner: JsonScanner): i32 {
  switch (scanner.mode) {
    case JsonMode.STRING:
      return readString(scanner) ? endScalar(scanner, JsonType.STRING) : JsonEvent.MORE;
    case JsonMode.KEY_STRING:
      return readString(scanner) ? endKey(scanner) : JsonEvent.MORE;
    case JsonMode.NUMBER:
      return readNumber(scanner) ? endScalar(scanner, JsonType.NUMBER) : JsonEvent.MORE;
    case JsonMode.WORD:
      return readWord(scanner) ? endScalar(scanner, wordType(scanner.word)) : JsonEvent.MORE;
    case JsonMode.SKIP:
      return skipStructure(scanner);
    case JsonMode.SKIP_STRING:
      if (skipString(scanner)) scanner.mode = JsonMode.SKIP;
      return JsonEvent.MORE;
    case JsonMode.DONE:
    case JsonMode.BROKEN:
      scanner.at = scanner.end;
      return JsonEvent.MORE;
    default:
      return between(scanner);
  }
}

/** The bytes between values: blanks, commas, colons, brackets and the first byte of what follows. */
function between(scanner: JsonScanner): i32 {
  const byte = load<u8>(scanner.at);
  if (byte <= 0x20) {
    // UTF-16, which some servers detect: read as bytes it could hide other keys than they see.
    if (byte === 0) return breakOff(scanner);
    scanner.at++;
    return JsonEvent.MORE;
  }
  switch (scanner.mode) {
    case JsonMode.AFTER:
      return afterValue(scanner, byte);
    case JsonMode.COLON:
      if (byte !== COLON) return breakOff(scanner);
      scanner.at++;
      scanner.mode = JsonMode.VALUE;
      return JsonEvent.MORE;
    case JsonMode.FIRST_KEY:
      if (byte === CLOSE_OBJECT) return close(scanner);
      return openKey(scanner, byte);
    case JsonMode.KEY:
      return openKey(scanner, byte);
    case JsonMode.FIRST_ELEMENT:
      if (byte === CLOSE_ARRAY) return close(scanner);
      return openValue(scanner, byte);
    case JsonMode.START:
      // A byte order mark, wherever the chunk is cut.
      if (byte === 0xef || byte === 0xbb || byte === 0xbf) {
        scanner.at++;
        return JsonEvent.MORE;
      }
      return openValue(scanner, byte);
    default:
      return openValue(scanner, byte);
  }
}

function afterValue(scanner: JsonScanner, byte: u8): i32 {
  if (scanner.depth === 0) {
    scanner.mode = JsonMode.DONE;
    return JsonEvent.END;
  }
  const isObject = inObject(scanner);
  if (byte === COMMA) {
    scanner.at++;
    scanner.mode = isObject ? JsonMode.KEY : JsonMode.VALUE;
    if (!isObject) scanner.kind = parentKind(scanner);
    return JsonEvent.MORE;
  }
  return byte === (isObject ? CLOSE_OBJECT : CLOSE_ARRAY) ? close(scanner) : breakOff(scanner);
}

/** Depth 0 has no bit, so a top-level scalar is in no object. */
function inObject(scanner: JsonScanner): bool {
  return ((scanner.objects >> scanner.depth) & 1) !== 0;
}

function openKey(scanner: JsonScanner, byte: u8): i32 {
  if (byte !== QUOTE) return breakOff(scanner);
  const at = ++scanner.at;
  if (at + 16 <= scanner.end) {
    // Nearly every key is short, plain and whole: one load finds its end and one store keeps it.
    const block = v128.load(at);
    const quotes = i8x16.bitmask(i8x16.eq(block, i8x16.splat(QUOTE)));
    const backslashes = i8x16.bitmask(i8x16.eq(block, i8x16.splat(0x5c)));
    if (quotes !== 0 && backslashes === 0) {
      const length = ctz(quotes);
      v128.store(scratchOf(scanner), block);
      scanner.scratchLength = length;
      scanner.truncated = false;
      scanner.at = at + <usize>length + 1;
      endKey(scanner);
      if (length < 15 && load<u8>(scanner.at) === COLON) {
        scanner.at++;
        scanner.mode = JsonMode.VALUE;
      }
      return JsonEvent.KEY;
    }
  }
  scanner.isKey = true;
  openString(scanner);
  return JsonEvent.MORE;
}

function endKey(scanner: JsonScanner): i32 {
  scanner.isKey = false;
  scanner.kind = 0;
  scanner.mode = JsonMode.COLON;
  return JsonEvent.KEY;
}

function openValue(scanner: JsonScanner, byte: u8): i32 {
  if (byte === QUOTE) {
    scanner.at++;
    scanner.isKey = false;
    openString(scanner);
    // Most values end in the same chunk, so read on at once.
    if (scanner.at < scanner.end && readString(scanner)) return endScalar(scanner, JsonType.STRING);
  } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
    return open(scanner, byte === OPEN_OBJECT);
  } else if (isDigit(byte) || byte === 0x2d) {
    openNumber(scanner);
    scanner.mode = JsonMode.NUMBER;
    if (readNumber(scanner)) return endScalar(scanner, JsonType.NUMBER);
  } else if (isLetter(byte)) {
    scanner.word = 0;
    scanner.mode = JsonMode.WORD;
    if (readWord(scanner)) return endScalar(scanner, wordType(scanner.word));
  } else {
    return breakOff(scanner);
  }
  return JsonEvent.MORE;
}

function open(scanner: JsonScanner, isObject: bool): i32 {
  scanner.at++;
  if ((scanner.kind & KindFlag.ENTER) === 0 || scanner.depth === MAX_DEPTH) {
    scanner.skipDepth = 1;
    scanner.mode = JsonMode.SKIP;
    return JsonEvent.MORE;
  }
  const depth = ++scanner.depth;
  store<u8>(changetype<usize>(scanner) + offsetof<JsonScanner>("kinds0") + <usize>depth, <u8>scanner.kind);
  const bit: u32 = (<u32>1) << depth;
  scanner.objects = isObject ? scanner.objects | bit : scanner.objects & ~bit;
  scanner.openIsObject = isObject;
  scanner.mode = isObject ? JsonMode.FIRST_KEY : JsonMode.FIRST_ELEMENT;
  return (scanner.kind & KindFlag.VALUE) !== 0 ? JsonEvent.OPEN : JsonEvent.MORE;
}

function close(scanner: JsonScanner): i32 {
  scanner.at++;
  scanner.depth--;
  if (scanner.depth > 0) {
    scanner.mode = JsonMode.AFTER;
    return JsonEvent.MORE;
  }
  scanner.mode = JsonMode.DONE;
  return JsonEvent.END;
}

function endScalar(scanner: JsonScanner, type: i32): i32 {
  scanner.type = type;
  scanner.mode = JsonMode.AFTER;
  if (scanner.at < scanner.end && load<u8>(scanner.at) === COMMA && inObject(scanner)) {
    scanner.at++;
    scanner.mode = JsonMode.KEY;
  }
  const wanted = (scanner.kind & KindFlag.VALUE) !== 0 || type === JsonType.WORD;
  return wanted ? JsonEvent.VALUE : JsonEvent.MORE;
}

function skipStructure(scanner: JsonScanner): i32 {
  const end = scanner.end;
  let at = scanner.at;
  while (at < end) {
    at = findStructure(at, end);
    if (at === end) break;
    const byte = load<u8>(at++);
    if (byte === QUOTE) {
      scanner.at = at;
      scanner.escape = 0;
      if (!skipString(scanner)) {
        scanner.mode = JsonMode.SKIP_STRING;
        return JsonEvent.MORE;
      }
      at = scanner.at;
    } else if ((byte | 0x20) === OPEN_OBJECT) {
      scanner.skipDepth++;
    } else if (--scanner.skipDepth === 0) {
      scanner.at = at;
      scanner.mode = scanner.depth === 0 ? JsonMode.DONE : JsonMode.AFTER;
      return scanner.depth === 0 ? JsonEvent.END : JsonEvent.MORE;
    }
  }
  scanner.at = at;
  return JsonEvent.MORE;
}

/** Gives up; the byte at fault stays unread. */
export function breakOff(scanner: JsonScanner): i32 {
  scanner.mode = JsonMode.BROKEN;
  return JsonEvent.BROKEN;
}
