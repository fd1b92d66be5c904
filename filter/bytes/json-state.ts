// The memory of one JSON scan that can stop after any byte.

/** What the scanner hands to its caller. */
export enum JsonEvent {
  /** All bytes are used up. */
  MORE,
  /** A key is in `scratch`; the caller sets `kind` for its value, by `parentKind`. */
  KEY,
  /** A scalar whose kind has `KindFlag.VALUE` has ended, or a bare word that JSON doesn't know. */
  VALUE,
  /** A container whose kind has ENTER and VALUE opens; `openIsObject` tells which. */
  OPEN,
  /** The top-level value is closed. What follows is ignored. */
  END,
  /** No JSON. What follows is ignored. */
  BROKEN,
}

/** What kind of scalar a VALUE event tells of. */
export enum JsonType {
  STRING,
  NUMBER,
  TRUE,
  FALSE,
  NULL,
  WORD,
}

/**
 * How values of a kind are read: the caller's kinds are these flags and an id in the low four bits.
 * Kind 0 is skipped whole, nested values included.
 */
export enum KindFlag {
  /** Objects and arrays are walked into (an array's elements have the array's kind); else skipped. */
  ENTER = 0x80,
  /** Strings are decoded into `scratch`, up to 32 bytes. */
  SHORT = 0x40,
  /** Strings are decoded into the text room behind the scanner, up to `textLimit` bytes. */
  TEXT = 0x20,
  /** The end of a scalar (and with ENTER the opening of a container) is an event. */
  VALUE = 0x10,
}

/** Where in the grammar the next byte falls. */
export enum JsonMode {
  START,
  VALUE,
  FIRST_ELEMENT,
  FIRST_KEY,
  KEY,
  KEY_STRING,
  COLON,
  AFTER,
  STRING,
  NUMBER,
  WORD,
  SKIP,
  SKIP_STRING,
  DONE,
  BROKEN,
}

/** Containers that are walked; what is nested deeper is skipped. Must fit the `kinds` fields. */
export const MAX_DEPTH: i32 = 15;
/** Bytes of a key or a short string that are kept. */
export const SCRATCH_SIZE: i32 = 32;

/**
 * One scan. Positions (`at`, `end`) are valid during a feed only; everything else survives between
 * feeds and holds no pointer, so the memory may move.
 */
@unmanaged
export class JsonScanner {
  at: usize;
  end: usize;
  mode: i32;
  /** Kind of the value that comes next or has just ended. */
  kind: i32;
  type: i32;
  /** 0, or 1 after a backslash, or 1 + the hex digits still to come. */
  escape: i32;
  isKey: bool;
  nonEmpty: bool;
  openIsObject: bool;
  negative: bool;
  /** Number: what was read so far, see `json-scalar.ts`. */
  numberPart: i32;
  /** The last string was longer than its room. */
  truncated: bool;
  /** Code unit collected from `\uXXXX`, and a high surrogate that waits for its other half. */
  codeUnit: u16;
  highSurrogate: u16;
  depth: i32;
  skipDepth: i32;
  /** Bit n: the container at depth n is an object. */
  objects: u32;
  scratchLength: i32;
  textLength: i32;
  textLimit: i32;
  number: i64;
  word: u64;
  kinds0: u64;
  kinds8: u64;
  scratch0: u64;
  scratch8: u64;
  scratch16: u64;
  scratch24: u64;
}

/** Where a key or a short string is kept. */
export function scratchOf(scanner: JsonScanner): usize {
  return changetype<usize>(scanner) + offsetof<JsonScanner>("scratch0");
}

/** Where long text is kept: right behind the scanner (text-room.ts). */
export function textOf(scanner: JsonScanner): usize {
  return changetype<usize>(scanner) + offsetof<JsonScanner>();
}

/** Kind of the container that the scan is in. */
export function parentKind(scanner: JsonScanner): i32 {
  const slot = changetype<usize>(scanner) + offsetof<JsonScanner>("kinds0");
  return load<u8>(slot + <usize>scanner.depth);
}

/** Starts a scan whose top-level value is of `kind`; keeps `textLimit`. */
export function resetScanner(scanner: JsonScanner, kind: i32): void {
  scanner.mode = JsonMode.START;
  scanner.kind = kind;
  scanner.escape = 0;
  scanner.depth = 0;
  scanner.skipDepth = 0;
  scanner.objects = 0;
  scanner.scratchLength = 0;
  scanner.textLength = 0;
  scanner.truncated = false;
}
