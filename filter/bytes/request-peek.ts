import { countOf } from "./json-scalar";
import { breakOff, nextEvent } from "./json-scanner";
import { JsonEvent, JsonScanner, JsonType, KindFlag, resetScanner, scratchOf, textOf } from "./json-state";
import { equalsIgnoreCase, equalsText } from "./text";
import { TextScanner256 } from "./text-room";

enum Kind {
  ROOT = 0x91,
  MODEL = 0x31,
  STREAM = 0x11,
  MAX_TOKENS = 0x12,
  MAX_COMPLETION_TOKENS = 0x13,
  N = 0x14,
}

/** Bytes of the model's name that are kept. */
export const MODEL_ROOM: i32 = 128;

/**
 * What the gate wants to know of a request body that passes by: top-level keys only, the last of
 * equal keys wins (as in the servers' parsers), escapes in keys and in the model's name are decoded.
 * Messages are never looked into, so their size costs next to nothing. Cleared by `resetPeek`.
 *
 * The text room holds the model's name, and behind it the name that an earlier key of the same body gave.
 */
@unmanaged
export class RequestPeek extends TextScanner256 {
  /** 1 or 0; -1 when absent or no boolean. */
  stream: i8;
  /** The top-level object is closed: nothing can change any more. */
  complete: bool;
  /** The body is no JSON object, or broken. What was read before the break stays readable. */
  malformed: bool;
  /** The model's name is longer than `MODEL_ROOM`; its start is kept, whole characters only when escaped. */
  modelTruncated: bool;
  /** `max_completion_tokens`, else `max_tokens`; -1 when absent or no count. */
  maxTokens: i32;
  /** Choices asked for; -1 when absent. */
  n: i32;
  /** Bytes of the model's name at `peekModel`; -1 when absent or no string. */
  modelLength: i32;
  /**
   * Keys `model` so far, in letters of any case: servers written in Go take `Model` for it too, and of several some servers
   * read the first, most the last.
   */
  modelKeys: i32;
  /** One of them was spelt as every server reads it. */
  hasModelKey: bool;
  /** Two of them, the present one left out, had different values. */
  modelsDiffer: bool;
  /** What `modelLength` and `modelTruncated` were for the key before the present one. */
  earlierTruncated: bool;
  earlierLength: i32;
  plainMaxTokens: i32;
  maxCompletionTokens: i32;
}

/** Makes the memory ready for a new body, whatever it held. */
export function resetPeek(peek: RequestPeek): void {
  peek.textLimit = MODEL_ROOM;
  resetScanner(peek, Kind.ROOT);
  peek.stream = -1;
  peek.complete = false;
  peek.malformed = false;
  peek.modelTruncated = false;
  peek.maxTokens = -1;
  peek.n = -1;
  peek.modelLength = -1;
  peek.modelKeys = 0;
  peek.hasModelKey = false;
  peek.modelsDiffer = false;
  peek.earlierTruncated = false;
  peek.earlierLength = -1;
  peek.plainMaxTokens = -1;
  peek.maxCompletionTokens = -1;
}

/** Where the model's name is. Escapes are decoded, so it is UTF-8 as the client meant it. */
export function peekModel(peek: RequestPeek): usize {
  return textOf(peek);
}

/** Whether the body names two models, so that it depends on the server which one is meant. */
export function isAmbiguous(peek: RequestPeek): bool {
  return peek.modelsDiffer || (peek.modelKeys > 1 && differsFromEarlier(peek));
}

/** Whether the whole body was read and names a model that could be kept. */
export function namesModel(peek: RequestPeek): bool {
  return peek.complete && peek.hasModelKey && peek.modelLength >= 0 && !peek.modelTruncated;
}

/** Takes the next bytes of the body; they may be cut anywhere. Bytes after the object are ignored. */
export function feedPeek(peek: RequestPeek, ptr: usize, length: i32): void {
  if (length <= 0) return;
  peek.at = ptr;
  peek.end = ptr + <usize>length;
  while (true) {
    switch (nextEvent(peek)) {
      case JsonEvent.KEY:
        peek.kind = keyKind(peek);
        break;
      case JsonEvent.VALUE:
        takeValue(peek);
        break;
      case JsonEvent.OPEN:
        if (!peek.openIsObject) breakPeek(peek);
        break;
      case JsonEvent.END:
        peek.complete = !peek.malformed;
        break;
      case JsonEvent.BROKEN:
        breakPeek(peek);
        break;
      default:
        return;
    }
  }
}

function breakPeek(peek: RequestPeek): void {
  breakOff(peek);
  peek.malformed = true;
}

/** The kind of the key's value; an earlier value of the same key is forgotten, whatever comes now. */
function keyKind(peek: RequestPeek): i32 {
  const kind = knownKey(scratchOf(peek), peek.scratchLength);
  if (kind === Kind.MODEL) noteModelKey(peek);
  if (kind !== 0) keep(peek, kind, -1);
  return kind;
}

function noteModelKey(peek: RequestPeek): void {
  if (peek.modelKeys > 1 && differsFromEarlier(peek)) peek.modelsDiffer = true;
  if (peek.modelKeys > 0) {
    memory.copy(earlierModel(peek), textOf(peek), <usize>max(peek.modelLength, 0));
    peek.earlierLength = peek.modelLength;
    peek.earlierTruncated = peek.modelTruncated;
  }
  peek.modelKeys++;
  if (equalsText(scratchOf(peek), peek.scratchLength, "model")) peek.hasModelKey = true;
}

/** Of names that were too long to be kept nobody knows; values that are no text name nothing. */
function differsFromEarlier(peek: RequestPeek): bool {
  if (peek.modelLength !== peek.earlierLength) return true;
  if (peek.modelLength < 0) return false;
  if (peek.modelTruncated || peek.earlierTruncated) return true;
  return memory.compare(textOf(peek), earlierModel(peek), <usize>peek.modelLength) !== 0;
}

function earlierModel(peek: RequestPeek): usize {
  return textOf(peek) + <usize>MODEL_ROOM;
}

function knownKey(key: usize, length: i32): i32 {
  switch (length) {
    case 1:
      return equalsText(key, length, "n") ? Kind.N : 0;
    case 5:
      return equalsIgnoreCase(key, length, "model") ? Kind.MODEL : 0;
    case 6:
      return equalsText(key, length, "stream") ? Kind.STREAM : 0;
    case 10:
      return equalsText(key, length, "max_tokens") ? Kind.MAX_TOKENS : 0;
    case 21:
      return equalsText(key, length, "max_completion_tokens") ? Kind.MAX_COMPLETION_TOKENS : 0;
    default:
      return 0;
  }
}

function takeValue(peek: RequestPeek): void {
  if (peek.type === JsonType.WORD) {
    breakPeek(peek);
    return;
  }
  switch (peek.kind) {
    case Kind.MODEL:
      if (peek.type !== JsonType.STRING) return;
      peek.modelTruncated = peek.truncated;
      keep(peek, Kind.MODEL, peek.textLength);
      return;
    case Kind.STREAM:
      if (peek.type === JsonType.TRUE) keep(peek, Kind.STREAM, 1);
      else if (peek.type === JsonType.FALSE) keep(peek, Kind.STREAM, 0);
      return;
    case Kind.ROOT:
      breakPeek(peek);
      return;
    default:
      keep(peek, peek.kind, countOf(peek));
  }
}

function keep(peek: RequestPeek, kind: i32, value: i32): void {
  switch (kind) {
    case Kind.MODEL:
      peek.modelLength = value;
      if (value < 0) peek.modelTruncated = false;
      return;
    case Kind.STREAM:
      peek.stream = <i8>value;
      return;
    case Kind.N:
      peek.n = value;
      return;
    case Kind.MAX_TOKENS:
      peek.plainMaxTokens = value;
      break;
    default:
      peek.maxCompletionTokens = value;
  }
  peek.maxTokens = peek.maxCompletionTokens >= 0 ? peek.maxCompletionTokens : peek.plainMaxTokens;
}
