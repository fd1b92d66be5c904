import { childKind, Kind } from "./answer-keys";
import { countOf, DONE_WORD } from "./json-scalar";
import { breakOff, nextEvent } from "./json-scanner";
import {
  JsonEvent,
  JsonMode,
  JsonScanner,
  JsonType,
  parentKind,
  resetScanner,
  scratchOf,
  textOf,
} from "./json-state";
import { endSse, nextPart, nextSseEvent, resetSse, SsePart, SseReader } from "./sse";
import { equalsText, parseDecimal } from "./text";
import { TextScanner512 } from "./text-room";

/** How an answer says that it ended. Of several choices the worst counts. */
export enum Finish {
  /** No finish reason yet. */
  NONE,
  /** stop, length, tool_calls, content_filter and any other word. */
  NORMAL,
  /** The server gave up: abort, error, insufficient_system_resource, parse_error. */
  ABNORMAL,
}

/** Bytes of an error's message that are kept. */
export const ERROR_ROOM: i32 = 512;

/**
 * What the meter wants to know of an answer that passes by: an event stream of OpenAI chat chunks or
 * completions, an answer in one piece, or an error body. Facts of an event count once its JSON is closed, so an
 * event that was cut tells nothing, except that its error still counts. Fixed size, no pointer inside survives a
 * feed. Cleared by `resetAnswer`.
 */
@unmanaged
export class AnswerReader extends TextScanner512 {
  /** Fields that an event has set and `commit` makes valid. */
  eventToken: bool;
  eventFailed: bool;
  /** The error stands under an `error` key, not in the event itself. */
  ownError: bool;
  eventFinish: i32;
  /** The payload is no JSON; its raw start is the text. */
  plain: bool;
  eventStream: bool;
  /** A `data:` line has begun and none of its bytes were seen. */
  lineStart: bool;

  /** A non-empty text, reasoning, refusal or tool call came, in an event that is no error. */
  firstToken: bool;
  /** An error came, whatever the status. */
  errorSeen: bool;
  /** `data: [DONE]` came. Servers send it after errors too. */
  doneSeen: bool;
  /** Answer in one piece: its JSON is closed. */
  complete: bool;
  finish: u8;
  /** From the last `usage`; -1 when unknown. */
  promptTokens: i32;
  completionTokens: i32;
  /**
   * Bytes of the first error's message at `errorText`. For an answer in one piece it is set by a
   * top-level `message` or `detail`, or by a body that isn't JSON at all, too: `errorSeen` stays false then, and
   * only the status tells whether that is an error.
   */
  errorTextLength: i32;
  /** The first error's numeric `code`, or one spelt as digits; -1 when unknown. */
  errorCode: i32;
  eventCode: i32;
  /** Events with data, without `[DONE]`. */
  events: u32;
  sse0: u64;
  sse8: u64;
  sse16: u64;
  sse24: u64;
  sse32: u64;
  sse40: u64;
  sse48: u64;
}

/** Makes the memory ready for a new answer, whatever it held. */
export function resetAnswer(answer: AnswerReader, eventStream: bool): void {
  answer.textLimit = ERROR_ROOM;
  answer.eventStream = eventStream;
  answer.firstToken = false;
  answer.errorSeen = false;
  answer.doneSeen = false;
  answer.complete = false;
  answer.finish = <u8>Finish.NONE;
  answer.promptTokens = -1;
  answer.completionTokens = -1;
  answer.errorTextLength = 0;
  answer.errorCode = -1;
  answer.events = 0;
  answer.lineStart = false;
  restart(answer);
  resetSse(sseOf(answer));
}

/** Where the text of the error is (UTF-8, escapes decoded). */
export function errorText(answer: AnswerReader): usize {
  return textOf(answer);
}

/** Takes the next bytes of the body; they may be cut anywhere. */
export function feedAnswer(answer: AnswerReader, ptr: usize, length: i32): void {
  if (length <= 0) return;
  const end = ptr + <usize>length;
  if (!answer.eventStream) {
    feedPayload(answer, ptr, end);
    return;
  }
  const sse = sseOf(answer);
  sse.at = ptr;
  sse.end = end;
  while (true) {
    switch (nextPart(sse)) {
      case SsePart.LINE:
        answer.lineStart = true;
        break;
      case SsePart.DATA:
        // Some servers end events by one line end only: a closed value can't go on, so this is a new one.
        if (answer.lineStart && answer.mode === JsonMode.DONE) endEvent(answer, sse);
        answer.lineStart = false;
        feedPayload(answer, sse.from, sse.to);
        break;
      case SsePart.EVENT:
        endEvent(answer, sse);
        nextSseEvent(sse);
        break;
      default:
        return;
    }
  }
}

/** The body has ended, by its end or by trailers. Calling it twice changes nothing. */
export function endAnswer(answer: AnswerReader): void {
  if (!answer.eventStream) {
    commit(answer, answer.eventFailed);
    return;
  }
  const sse = sseOf(answer);
  endSse(sse);
  endEvent(answer, sse);
  nextSseEvent(sse);
}

function sseOf(answer: AnswerReader): SseReader {
  return changetype<SseReader>(changetype<usize>(answer) + offsetof<AnswerReader>("sse0"));
}

function restart(answer: AnswerReader): void {
  resetScanner(answer, Kind.ROOT);
  answer.eventToken = false;
  answer.eventFailed = false;
  answer.ownError = false;
  answer.eventFinish = Finish.NONE;
  answer.eventCode = -1;
  answer.plain = false;
  answer.word = 0;
}

function endEvent(answer: AnswerReader, sse: SseReader): void {
  const isDone = answer.mode === JsonMode.DONE && answer.word === DONE_WORD;
  const failed = answer.eventFailed || sse.isError;
  if (sse.hasData && !isDone) answer.events++;
  commit(answer, failed);
  restart(answer);
}

/** Makes the event's facts valid. Idempotent. */
function commit(answer: AnswerReader, failed: bool): void {
  const closed = answer.mode === JsonMode.DONE;
  if (failed) {
    answer.errorSeen = true;
    if (answer.errorCode < 0) answer.errorCode = answer.eventCode;
  } else if (closed && answer.eventToken) {
    answer.firstToken = true;
  }
  if (failed || !answer.eventStream) keepText(answer);
  if (closed && answer.eventFinish > <i32>answer.finish) answer.finish = <u8>answer.eventFinish;
}

/** The text in the room is the error's from now on: nothing may be written over it. */
function keepText(answer: AnswerReader): void {
  if (answer.errorTextLength > 0 || answer.textLength === 0) return;
  answer.errorTextLength = answer.textLength;
  answer.textLimit = 0;
}

/** Some bytes of a JSON text. */
function feedPayload(answer: AnswerReader, ptr: usize, end: usize): void {
  if (answer.mode === JsonMode.START && !answer.plain) {
    while (ptr < end && isLeading(load<u8>(ptr))) ptr++;
    if (ptr === end) return;
    const byte = load<u8>(ptr);
    answer.plain = byte !== 0x7b && byte !== 0x5b && byte !== 0x22;
  }
  if (answer.plain) {
    takePlain(answer, ptr, end);
    return;
  }
  answer.at = ptr;
  answer.end = end;
  while (true) {
    switch (nextEvent(answer)) {
      case JsonEvent.KEY:
        answer.kind = keyKind(answer);
        break;
      case JsonEvent.VALUE:
        takeValue(answer);
        break;
      case JsonEvent.OPEN:
        if (answer.kind === Kind.ERROR && answer.openIsObject) takeOwnError(answer);
        break;
      case JsonEvent.END:
        endJson(answer);
        break;
      case JsonEvent.BROKEN:
        break;
      default:
        return;
    }
  }
}

/** Blanks and the bytes of a byte order mark. DeepSeek sends blank lines for minutes before its JSON. */
function isLeading(byte: u8): bool {
  return byte <= 0x20 || byte === 0xef || byte === 0xbb || byte === 0xbf;
}

function takePlain(answer: AnswerReader, ptr: usize, end: usize): void {
  while (ptr < end && answer.textLength < answer.textLimit) {
    store<u8>(textOf(answer) + <usize>answer.textLength, load<u8>(ptr++));
    answer.textLength++;
  }
  if (!answer.eventStream) answer.errorTextLength = answer.textLength;
}

/** The error's own message and code are better than those beside it. */
function keyKind(answer: AnswerReader): i32 {
  const kind = childKind(parentKind(answer), scratchOf(answer), answer.scratchLength);
  if (!answer.ownError) return kind;
  if (kind === Kind.FLAT_MESSAGE && answer.textLength > 0) return 0;
  return kind === Kind.FLAT_CODE && answer.eventCode >= 0 ? 0 : kind;
}

function takeValue(answer: AnswerReader): void {
  if (answer.type === JsonType.WORD) {
    if (answer.word === DONE_WORD && answer.depth === 1 && answer.kind === Kind.ROOT) answer.doneSeen = true;
    else breakOff(answer);
    return;
  }
  switch (answer.kind) {
    case Kind.CONTENT:
    case Kind.TOKEN:
      if (answer.type === JsonType.STRING && answer.nonEmpty) answer.eventToken = true;
      return;
    case Kind.FINISH_REASON:
      if (answer.type === JsonType.STRING && answer.nonEmpty) takeFinish(answer);
      return;
    case Kind.PROMPT_TOKENS:
      if (answer.type === JsonType.NUMBER) answer.promptTokens = countOf(answer);
      return;
    case Kind.COMPLETION_TOKENS:
      if (answer.type === JsonType.NUMBER) answer.completionTokens = countOf(answer);
      return;
    case Kind.OBJECT_TYPE:
      if (answer.type === JsonType.STRING && isShort(answer, "error")) answer.eventFailed = true;
      return;
    case Kind.ERROR:
      if (answer.type === JsonType.STRING && answer.nonEmpty) takeOwnError(answer);
      return;
    case Kind.ERROR_CODE:
    case Kind.FLAT_CODE:
      takeCode(answer);
      return;
    default:
      return;
  }
}

function takeOwnError(answer: AnswerReader): void {
  answer.eventFailed = true;
  answer.ownError = true;
}

function takeFinish(answer: AnswerReader): void {
  const abnormal =
    isShort(answer, "abort") ||
    isShort(answer, "error") ||
    isShort(answer, "parse_error") ||
    isShort(answer, "insufficient_system_resource");
  if (abnormal) answer.eventFinish = Finish.ABNORMAL;
  else if (answer.eventFinish === Finish.NONE) answer.eventFinish = Finish.NORMAL;
}

function takeCode(answer: AnswerReader): void {
  if (answer.type === JsonType.NUMBER) answer.eventCode = countOf(answer);
  else if (answer.type === JsonType.STRING && !answer.truncated) {
    answer.eventCode = parseDecimal(scratchOf(answer), answer.scratchLength);
  }
}

function isShort(answer: AnswerReader, text: string): bool {
  return !answer.truncated && equalsText(scratchOf(answer), answer.scratchLength, text);
}

function endJson(answer: AnswerReader): void {
  if (!answer.eventStream) answer.complete = true;
  const failed = answer.eventFailed || (answer.eventStream && sseOf(answer).isError);
  commit(answer, failed);
}
