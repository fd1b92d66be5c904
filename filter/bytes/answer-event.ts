import { childKind, Kind } from "./answer-keys";
import { countOf, DONE_WORD } from "./json-scalar";
import { breakOff, nextEvent } from "./json-scanner";
import { JsonEvent, JsonMode, JsonType, parentKind, resetScanner, scratchOf, textOf } from "./json-state";
import { equalsText, parseDecimal } from "./text";
import { TextScanner512 } from "./text-room";

/**
 * What one event of a stream, or an answer in one piece, tells. The text room holds its error's message, or
 * what may turn out to be one.
 */
@unmanaged
export class AnswerEvent extends TextScanner512 {
  /** Model output that is not empty. */
  hasToken: bool;
  hasError: bool;
  /** The error stands under an `error` key, not in the event itself. */
  ownError: bool;
  hasFinish: bool;
  hasAbnormalFinish: bool;
  /** The payload is `[DONE]`. */
  isDone: bool;
  /** The payload is no JSON; its raw start is the text. */
  plain: bool;
  /** The error's numeric code, or one spelt as digits; -1 when unknown. */
  code: i32;
  /** From the last `usage` of all events; -1 when unknown. */
  promptTokens: i32;
  completionTokens: i32;
}

/** Makes ready for the next event; `promptTokens` and `completionTokens` stay. */
export function restartEvent(event: AnswerEvent): void {
  resetScanner(event, Kind.ROOT);
  event.hasToken = false;
  event.hasError = false;
  event.ownError = false;
  event.hasFinish = false;
  event.hasAbnormalFinish = false;
  event.isDone = false;
  event.plain = false;
  event.code = -1;
}

/** The event's JSON is whole. */
export function isClosed(event: AnswerEvent): bool {
  return event.mode === JsonMode.DONE;
}

/** Takes some bytes of the payload in [ptr, end). */
export function feedEvent(event: AnswerEvent, ptr: usize, end: usize): void {
  if (event.mode === JsonMode.START && !event.plain) {
    while (ptr < end && isLeading(load<u8>(ptr))) ptr++;
    if (ptr === end) return;
    const byte = load<u8>(ptr);
    event.plain = byte !== 0x7b && byte !== 0x5b && byte !== 0x22;
  }
  if (event.plain) {
    takePlain(event, ptr, end);
    return;
  }
  event.at = ptr;
  event.end = end;
  while (true) {
    switch (nextEvent(event)) {
      case JsonEvent.KEY:
        event.kind = keyKind(event);
        break;
      case JsonEvent.VALUE:
        takeValue(event);
        break;
      case JsonEvent.OPEN:
        if (event.kind === Kind.ERROR && event.openIsObject) takeOwnError(event);
        break;
      case JsonEvent.MORE:
        return;
      default:
        break;
    }
  }
}

/** Blanks and the bytes of a byte order mark. DeepSeek sends blank lines for minutes before its JSON. */
function isLeading(byte: u8): bool {
  return byte <= 0x20 || byte === 0xef || byte === 0xbb || byte === 0xbf;
}

function takePlain(event: AnswerEvent, ptr: usize, end: usize): void {
  while (ptr < end && event.textLength < event.textLimit) {
    store<u8>(textOf(event) + <usize>event.textLength, load<u8>(ptr++));
    event.textLength++;
  }
}

/** The error's own message and code are better than those beside it. */
function keyKind(event: AnswerEvent): i32 {
  const kind = childKind(parentKind(event), scratchOf(event), event.scratchLength);
  if (!event.ownError) return kind;
  if (kind === Kind.FLAT_MESSAGE && event.textLength > 0) return 0;
  return kind === Kind.FLAT_CODE && event.code >= 0 ? 0 : kind;
}

function takeValue(event: AnswerEvent): void {
  if (event.type === JsonType.WORD) {
    if (event.word === DONE_WORD && event.depth === 1 && event.kind === Kind.ROOT) event.isDone = true;
    else breakOff(event);
    return;
  }
  switch (event.kind) {
    case Kind.CONTENT:
    case Kind.TOKEN:
      if (event.type === JsonType.STRING && event.nonEmpty) event.hasToken = true;
      return;
    case Kind.FINISH_REASON:
      if (event.type === JsonType.STRING && event.nonEmpty) takeFinish(event);
      return;
    case Kind.PROMPT_TOKENS:
      if (event.type === JsonType.NUMBER) event.promptTokens = countOf(event);
      return;
    case Kind.COMPLETION_TOKENS:
      if (event.type === JsonType.NUMBER) event.completionTokens = countOf(event);
      return;
    case Kind.OBJECT_TYPE:
      if (event.type === JsonType.STRING && isShort(event, "error")) event.hasError = true;
      return;
    case Kind.ERROR:
      if (event.type === JsonType.STRING && event.nonEmpty) takeOwnError(event);
      return;
    case Kind.ERROR_CODE:
    case Kind.FLAT_CODE:
      takeCode(event);
      return;
    default:
      return;
  }
}

function takeOwnError(event: AnswerEvent): void {
  event.hasError = true;
  event.ownError = true;
}

function takeFinish(event: AnswerEvent): void {
  const abnormal =
    isShort(event, "abort") ||
    isShort(event, "error") ||
    isShort(event, "parse_error") ||
    isShort(event, "insufficient_system_resource");
  if (abnormal) event.hasAbnormalFinish = true;
  else event.hasFinish = true;
}

function takeCode(event: AnswerEvent): void {
  if (event.type === JsonType.NUMBER) event.code = countOf(event);
  else if (event.type === JsonType.STRING && !event.truncated) {
    event.code = parseDecimal(scratchOf(event), event.scratchLength);
  }
}

function isShort(event: AnswerEvent, text: string): bool {
  return !event.truncated && equalsText(scratchOf(event), event.scratchLength, text);
}
