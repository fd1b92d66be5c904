import { AnswerEvent, openChoice } from "./answer-event";
import { childKind, Kind } from "./answer-keys";
import { kindOfWord } from "./error-kind";
import { countOf, DONE_WORD } from "./json-scalar";
import { breakOff, nextEvent } from "./json-scanner";
import { JsonEvent, JsonMode, JsonType, parentKind, scratchOf, textOf } from "./json-state";
import { equalsText, parseDecimal, startsWith } from "./text";

// From the values of an event to its facts. A value of a type that nobody expects tells nothing.

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
        if (event.kind === Kind.CHOICE) {
          if (event.openIsObject) openChoice(event);
        } else if (event.kind === Kind.USAGE) {
          event.inputTokens = 0;
        }
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

/** An error without any key is none. The error's own message and code are better than those beside it. */
function keyKind(event: AnswerEvent): i32 {
  const parent = parentKind(event);
  if (parent === Kind.ERROR) takeOwnError(event);
  const kind = childKind(parent, scratchOf(event), event.scratchLength);
  if (!event.ownError) return kind;
  if ((kind === Kind.FLAT_MESSAGE || kind === Kind.MESSAGE) && event.textLength > 0) return 0;
  return kind === Kind.FLAT_CODE && event.code >= 0 ? 0 : kind;
}

function takeValue(event: AnswerEvent): void {
  switch (event.type) {
    case JsonType.STRING:
      takeString(event);
      return;
    case JsonType.NUMBER:
      takeNumber(event, countOf(event));
      return;
    case JsonType.TRUE:
      takeTrue(event);
      return;
    case JsonType.WORD:
      if (event.word === DONE_WORD && event.depth === 1 && event.kind === Kind.ROOT) event.isDone = true;
      else breakOff(event);
      return;
    default:
      return;
  }
}

function takeString(event: AnswerEvent): void {
  // TGI ends a stream by its whole text, even an empty one.
  if (event.kind === Kind.GENERATED_TEXT) takeEnd(event);
  if (!event.nonEmpty) return;
  switch (event.kind) {
    case Kind.CONTENT:
    case Kind.TOKEN:
    case Kind.ROOT_DELTA:
    case Kind.RESPONSE:
    case Kind.GENERATED_TEXT:
      event.hasToken = true;
      return;
    case Kind.FINISH_REASON:
      takeFinish(event);
      return;
    case Kind.TEXT_OUTPUT:
      event.hasToken = true;
      event.hasFinish = true;
      return;
    case Kind.ENGINE_TEXT:
      event.hasEngineText = true;
      return;
    case Kind.OBJECT_TYPE:
      if (isShort(event, "error")) event.hasError = true;
      else if (isShort(event, "response")) takeResponse(event, true, event.hasFailed);
      return;
    case Kind.STATUS:
      takeStatus(event);
      return;
    case Kind.TYPE:
      takeType(event);
      return;
    case Kind.ERROR:
      takeOwnError(event);
      return;
    case Kind.ERROR_CODE:
    case Kind.FLAT_CODE:
      if (!event.truncated) event.code = parseDecimal(scratchOf(event), event.scratchLength);
      takeWord(event);
      return;
    case Kind.ERROR_WORD:
      takeWord(event);
      return;
    default:
      return;
  }
}

function takeNumber(event: AnswerEvent, count: i32): void {
  if (event.kind === Kind.CHOICE_INDEX) {
    event.choiceIndex = count;
    return;
  }
  if (count < 0) return;
  switch (event.kind) {
    case Kind.PROMPT_TOKENS:
      event.promptTokens = count;
      return;
    case Kind.COMPLETION_TOKENS:
      event.completionTokens = count;
      return;
    case Kind.INPUT_TOKENS:
      // Later events tell the same again, or only a part of it.
      event.inputTokens += min(count, i32.MAX_VALUE - event.inputTokens);
      event.promptTokens = max(event.promptTokens, event.inputTokens);
      return;
    case Kind.ERROR_CODE:
    case Kind.FLAT_CODE:
      event.code = count;
      return;
    default:
      return;
  }
}

function takeTrue(event: AnswerEvent): void {
  if (event.kind === Kind.DONE) takeEnd(event);
  else if (event.kind === Kind.SPECIAL) event.isSpecial = true;
}

function takeOwnError(event: AnswerEvent): void {
  event.hasError = true;
  event.ownError = true;
}

function takeEnd(event: AnswerEvent): void {
  event.hasFinish = true;
  event.hasEnd = true;
}

function takeFinish(event: AnswerEvent): void {
  event.choiceFinished = true;
  const abnormal =
    isShort(event, "abort") ||
    isShort(event, "error") ||
    isShort(event, "parse_error") ||
    isShort(event, "insufficient_system_resource");
  if (abnormal) event.hasAbnormalFinish = true;
  else event.hasFinish = true;
}

function takeStatus(event: AnswerEvent): void {
  if (isShort(event, "failed")) takeResponse(event, event.isResponse, true);
  else if (isShort(event, "completed") || isShort(event, "incomplete")) event.hasFinish = true;
}

/** Only a response that failed is an error, whichever of the two comes first. */
function takeResponse(event: AnswerEvent, isResponse: bool, hasFailed: bool): void {
  event.isResponse = isResponse;
  event.hasFailed = hasFailed;
  if (isResponse && hasFailed) event.hasError = true;
}

function takeType(event: AnswerEvent): void {
  const word = scratchOf(event);
  const length = event.scratchLength;
  if (startsWith(word, length, "response.")) {
    if (isShort(event, "response.completed") || isShort(event, "response.incomplete")) takeEnd(event);
    else if (isShort(event, "response.failed")) event.hasError = true;
  } else if (isShort(event, "message_stop")) {
    event.hasEnd = true;
  } else if (isShort(event, "error")) {
    event.hasError = true;
  } else {
    takeWord(event);
  }
}

/** The first word that is known counts. */
function takeWord(event: AnswerEvent): void {
  if (event.wordKind === 0 && !event.truncated)
    event.wordKind = <u8>kindOfWord(scratchOf(event), event.scratchLength);
}

function isShort(event: AnswerEvent, text: string): bool {
  return !event.truncated && equalsText(scratchOf(event), event.scratchLength, text);
}
