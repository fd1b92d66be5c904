import { findLineEnd } from "./scan";

// Line framing of an event stream: LF, CRLF or CR, comments, unknown fields, a byte order mark at the
// start. Nothing is copied: the payload of `data:` lines is handed on in place, piece by piece.

/** What the framing hands to its caller. */
export enum SsePart {
  /** All bytes are used up. */
  MORE,
  /** A `data:` line begins. */
  LINE,
  /** Some bytes of it are in [from, to). */
  DATA,
  /** A blank line: the event is over. It had data if `hasData`. The caller then calls `nextSseEvent`. */
  EVENT,
}

enum Mode {
  LINE_START,
  FIELD,
  DATA_START,
  DATA,
  EVENT_START,
  EVENT_VALUE,
  IGNORE,
}

const LF: u8 = 0x0a;
const CR: u8 = 0x0d;
const COLON: u8 = 0x3a;
const BLANK: u8 = 0x20;
const DATA: u64 = 0x64617461;
const EVENT: u64 = 0x6576656e74;
const ERROR: u64 = 0x6572726f72;
/** The last byte of a byte order mark is behind us, or there was none. */
const BOM_DONE: i32 = 3;

/** State of the framing. `at`, `end`, `from`, `to` are valid during a feed only. */
@unmanaged
export class SseReader {
  at: usize;
  end: usize;
  from: usize;
  to: usize;
  /** Letters of the field's name (or value of `event:`) so far, packed; only short ones matter. */
  name: u64;
  nameLength: u32;
  mode: i32;
  bom: i32;
  /** The last line ended in CR: an LF that follows belongs to it. */
  skipFeed: bool;
  hasData: bool;
  /** The event's type is `error` (or, as old llama.cpp writes it, its field is). */
  isError: bool;
}

/** Starts a stream. */
export function resetSse(sse: SseReader): void {
  sse.mode = Mode.LINE_START;
  sse.bom = 0;
  sse.skipFeed = false;
  nextSseEvent(sse);
}

/** No line has begun; a byte order mark may have. */
export function isAtLineStart(sse: SseReader): bool {
  return sse.mode === Mode.LINE_START;
}

/** Forgets the event that has ended. */
export function nextSseEvent(sse: SseReader): void {
  sse.hasData = false;
  sse.isError = false;
}

/** The stream has ended: what was read of the last line counts. */
export function endSse(sse: SseReader): void {
  if (sse.mode === Mode.EVENT_VALUE) endEventLine(sse);
  sse.mode = Mode.LINE_START;
}

/** Reads on to the next part. O(bytes), in constant memory. */
export function nextPart(sse: SseReader): i32 {
  while (sse.at < sse.end) {
    const part = step(sse);
    if (part !== SsePart.MORE) return part;
  }
  return SsePart.MORE;
}

function step(sse: SseReader): i32 {
  switch (sse.mode) {
    case Mode.LINE_START:
      return startLine(sse);
    case Mode.FIELD:
      return readField(sse);
    case Mode.DATA_START:
      skipBlank(sse);
      sse.mode = Mode.DATA;
      sse.hasData = true;
      return SsePart.LINE;
    case Mode.DATA:
      return readData(sse);
    case Mode.EVENT_START:
      skipBlank(sse);
      sse.name = 0;
      sse.nameLength = 0;
      sse.mode = Mode.EVENT_VALUE;
      return SsePart.MORE;
    case Mode.EVENT_VALUE:
      readEventName(sse);
      return SsePart.MORE;
    default:
      sse.at = findLineEnd(sse.at, sse.end);
      if (sse.at < sse.end) endLine(sse);
      return SsePart.MORE;
  }
}

function startLine(sse: SseReader): i32 {
  const at = sse.at;
  const byte = load<u8>(at);
  if (sse.skipFeed) {
    sse.skipFeed = false;
    if (byte === LF) {
      sse.at = at + 1;
      return SsePart.MORE;
    }
  }
  if (sse.bom < BOM_DONE) {
    if (byte === bomByte(sse.bom)) {
      sse.bom++;
      sse.at = at + 1;
      return SsePart.MORE;
    }
    sse.bom = BOM_DONE;
  }
  if (byte === LF || byte === CR) {
    endLine(sse);
    return SsePart.EVENT;
  }
  // Nearly every line starts like this; the general way below reads the same, byte by byte.
  if (at + 5 <= sse.end && load<u32>(at) === 0x61746164 && load<u8>(at + 4) === COLON) {
    sse.at = at + 5;
    sse.mode = Mode.DATA_START;
    return SsePart.MORE;
  }
  sse.name = 0;
  sse.nameLength = 0;
  sse.mode = Mode.FIELD;
  return SsePart.MORE;
}

function readField(sse: SseReader): i32 {
  const byte = load<u8>(sse.at);
  if (byte === LF || byte === CR) {
    if (isName(sse, 4, DATA)) sse.hasData = true;
    endLine(sse);
    return SsePart.MORE;
  }
  sse.at++;
  if (byte !== COLON) {
    addToName(sse, byte);
    if (sse.nameLength > 5) sse.mode = Mode.IGNORE;
    return SsePart.MORE;
  }
  if (isName(sse, 4, DATA)) {
    sse.mode = Mode.DATA_START;
  } else if (isName(sse, 5, EVENT)) {
    sse.mode = Mode.EVENT_START;
  } else if (isName(sse, 5, ERROR)) {
    sse.isError = true;
    sse.mode = Mode.DATA_START;
  } else {
    sse.mode = Mode.IGNORE;
  }
  return SsePart.MORE;
}

function readData(sse: SseReader): i32 {
  const from = sse.at;
  const to = findLineEnd(from, sse.end);
  sse.at = to;
  if (to < sse.end) endLine(sse);
  if (from === to) return SsePart.MORE;
  sse.from = from;
  sse.to = to;
  return SsePart.DATA;
}

function readEventName(sse: SseReader): void {
  const byte = load<u8>(sse.at);
  if (byte === LF || byte === CR) {
    endEventLine(sse);
    endLine(sse);
    return;
  }
  sse.at++;
  addToName(sse, byte);
}

function endEventLine(sse: SseReader): void {
  sse.isError = isName(sse, 5, ERROR);
}

function addToName(sse: SseReader, byte: u8): void {
  sse.name = (sse.name << 8) | <u64>byte;
  // Saturates: a name of any length but these few is unknown.
  if (sse.nameLength < 255) sse.nameLength++;
}

function isName(sse: SseReader, length: u32, name: u64): bool {
  return sse.nameLength === length && sse.name === name;
}

function skipBlank(sse: SseReader): void {
  if (load<u8>(sse.at) === BLANK) sse.at++;
}

function endLine(sse: SseReader): void {
  sse.skipFeed = load<u8>(sse.at) === CR;
  sse.at++;
  sse.mode = Mode.LINE_START;
}

function bomByte(index: i32): u8 {
  return index === 0 ? 0xef : index === 1 ? 0xbb : 0xbf;
}
