import { parseText } from "./json.js";
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from "./json-bytes.js";

/** One member of the outermost JSON object: its decoded key and where its bytes are, ends exclusive. */
export interface Member {
  key: string;
  /** The key's opening quote. */
  keyStart: number;
  keyEnd: number;
  valueStart: number;
  valueEnd: number;
}

/** A range of bytes, end exclusive. */
export interface Span {
  start: number;
  end: number;
}

export interface TopLevel {
  members: Member[];
  /** Index of the closing brace. */
  end: number;
}

/**
 * Finds the members of the outermost object without parsing what is inside their values. One pass, O(n), no
 * recursion, strings are skipped natively; so the bytes of a value that we don't touch are never interpreted
 * (integers beyond 2^53, escapes, invalid nested JSON). Duplicate keys are all listed, in order.
 * Undefined when the bytes are no single JSON object, or one of more than `maxMembers`.
 */
export function scanTopLevel(bytes: Buffer, maxMembers = Number.POSITIVE_INFINITY): TopLevel | undefined {
  let at = skipBlanks(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return undefined;
  at = skipBlanks(bytes, at + 1);
  const members: Member[] = [];
  if (bytes[at] !== CLOSE_BRACE) {
    for (;;) {
      const keyStart = at;
      const keyEnd = endOfString(bytes, at);
      const key = keyEnd === -1 ? undefined : decodeKey(bytes, at, keyEnd);
      if (key === undefined) return undefined;
      at = skipBlanks(bytes, keyEnd);
      if (bytes[at] !== COLON) return undefined;
      const valueStart = skipBlanks(bytes, at + 1);
      const valueEnd = endOfValue(bytes, valueStart);
      if (valueEnd === -1 || members.length === maxMembers) return undefined;
      members.push({ key, keyStart, keyEnd, valueStart, valueEnd });
      at = skipBlanks(bytes, valueEnd);
      if (bytes[at] === CLOSE_BRACE) break;
      if (bytes[at] !== COMMA) return undefined;
      at = skipBlanks(bytes, at + 1);
    }
  }
  return skipBlanks(bytes, at + 1) === bytes.length ? { members, end: at } : undefined;
}

/** Where the elements of an outermost array are, ends exclusive. Undefined when the bytes are no single array. */
export function scanElements(bytes: Buffer): Span[] | undefined {
  let at = skipBlanks(bytes, 0);
  if (bytes[at] !== OPEN_BRACKET) return undefined;
  at = skipBlanks(bytes, at + 1);
  const elements: Span[] = [];
  while (bytes[at] !== CLOSE_BRACKET) {
    const end = endOfValue(bytes, at);
    if (end === -1) return undefined;
    elements.push({ start: at, end });
    at = skipBlanks(bytes, end);
    if (bytes[at] === CLOSE_BRACKET) break;
    if (bytes[at] !== COMMA) return undefined;
    at = skipBlanks(bytes, at + 1);
    // A comma announces an element.
    if (bytes[at] === CLOSE_BRACKET) return undefined;
  }
  return skipBlanks(bytes, at + 1) === bytes.length ? elements : undefined;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function skipBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (isBlank(bytes[at])) at++;
  return at;
}

/** A key may be spelled with escapes (`"mod\u0065l"`), which servers read as the same key. */
function decodeKey(bytes: Buffer, start: number, end: number): string | undefined {
  if (isPlain(bytes, start + 1, end - 1)) return bytes.toString("latin1", start + 1, end - 1);
  return parseText(bytes.subarray(start, end));
}

/** Printable ASCII without escapes, as nearly all keys are: no parser is needed for them. */
function isPlain(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return false;
  }
  return true;
}

/** The index after the closing quote of the string that starts at `from`; -1 when there is none. */
function endOfString(bytes: Buffer, from: number): number {
  if (bytes[from] !== QUOTE) return -1;
  for (let at = bytes.indexOf(QUOTE, from + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = at;
    while (bytes[escapes - 1] === BACKSLASH) escapes--;
    // An even run of backslashes before the quote are escaped backslashes; the quote is real.
    if ((at - escapes) % 2 === 0) return at + 1;
  }
  return -1;
}

function endOfValue(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return endOfString(bytes, from);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return endOfNested(bytes, from);
  let at = from;
  while (at < bytes.length && !isBlank(bytes[at]) && !isDelimiter(bytes[at])) at++;
  return isScalar(bytes.toString("latin1", from, at)) ? at : -1;
}

function isDelimiter(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
}

function isScalar(text: string): boolean {
  if (text === "true" || text === "false" || text === "null") return true;
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
}

function endOfNested(bytes: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfString(bytes, at) - 1;
      if (at < 0) return -1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
