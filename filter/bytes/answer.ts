import { AnswerEvent, closeChoice, isBroken, isClosed, restartEvent } from "./answer-event";
import { feedEvent } from "./answer-values";
import { ErrorKind, kindOfText, NOT_CONTEXT } from "./error-kind";
import { isScalar } from "./json-scalar";
import { JsonMode, textOf } from "./json-state";
import { endSse, nextPart, nextSseEvent, resetSse, SsePart, SseReader } from "./sse";

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
 * What the meter wants to know of an answer that passes by: an event stream, an answer in one piece, or an
 * error body, of OpenAI chat, completions and Responses, Anthropic Messages, TGI, Triton or Ollama. Facts of an event count once its JSON is
 * closed, so an event that was cut tells nothing, except that its error still counts (at the end).
 * Fixed size, no pointer inside survives a feed. Cleared by `resetAnswer`.
 */
@unmanaged
export class AnswerReader extends AnswerEvent {
  eventStream: bool;
  /** A `data:` line has begun and none of its bytes were seen. */
  lineStart: bool;
  /** A non-empty text, reasoning, refusal or tool call came, in an event that is no error. */
  firstToken: bool;
  /** An error came, whatever the status. */
  errorSeen: bool;
  /** The dialect's end mark came, `data: [DONE]` or its like. Servers send it after errors too. */
  doneSeen: bool;
  /** `data: [DONE]` itself came. */
  doneMarkSeen: bool;
  /** An event's data was no whole JSON: some of the answer may be missing, whatever its end says. */
  malformed: bool;
  /** Answer in one piece: its JSON is closed. A scalar is so at the end only. */
  complete: bool;
  finish: u8;
  /** An `ErrorKind`: known with the error, of an answer in one piece at its end. */
  errorKind: u8;
  /**
   * Bytes of the first error's message at `errorText`. For an answer in one piece it is set by a
   * top-level `message` or `detail`, or by a body that isn't JSON at all (`plain`), too: `errorSeen` stays
   * false then, and only the status tells whether that is an error.
   */
  errorTextLength: i32;
  /** The first error's numeric `code`, or one spelt as digits; -1 when unknown. */
  errorCode: i32;
  /** Events with data, without `[DONE]`. */
  events: u32;
  /** Bit n: choice n came; it has a finish reason. Choices from 32 on are not waited for. */
  begunChoices: u32;
  finishedChoices: u32;
  // Up to here from `eventStream` on: what outlives an event (answer-facts.ts).
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
  answer.promptTokens = -1;
  answer.completionTokens = -1;
  restartEvent(answer);
  answer.eventStream = eventStream;
  answer.lineStart = false;
  answer.firstToken = false;
  answer.errorSeen = false;
  answer.doneSeen = false;
  answer.doneMarkSeen = false;
  answer.malformed = false;
  answer.complete = false;
  answer.finish = <u8>Finish.NONE;
  answer.errorTextLength = 0;
  answer.errorCode = -1;
  answer.events = 0;
  answer.errorKind = <u8>ErrorKind.UNKNOWN;
  answer.begunChoices = 0;
  answer.finishedChoices = 0;
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
  if (answer.eventStream) feedStream(answer, ptr, end);
  else feedBody(answer, ptr, end);
}

/** The body has ended, by its end or by trailers. Calling it twice changes nothing. */
export function endAnswer(answer: AnswerReader): void {
  if (!answer.eventStream) {
    endBody(answer);
    return;
  }
  const sse = sseOf(answer);
  endSse(sse);
  endEvent(answer, sse);
  nextSseEvent(sse);
}

/**
 * The answer reached its proper end and is no failure: a JSON that is closed, or a stream in which each choice
 * that began has a finish reason, or the end mark came after a token or a finish reason.
 */
export function isWhole(answer: AnswerReader): bool {
  if (answer.errorSeen || answer.finish === Finish.ABNORMAL) return false;
  if (!answer.eventStream) return answer.complete;
  const isFinished = answer.finish === Finish.NORMAL;
  if (answer.doneSeen) return isFinished || answer.firstToken;
  return isFinished && (answer.begunChoices & ~answer.finishedChoices) === 0;
}

export function sseOf(answer: AnswerReader): SseReader {
  return changetype<SseReader>(changetype<usize>(answer) + offsetof<AnswerReader>("sse0"));
}

function feedBody(answer: AnswerReader, ptr: usize, end: usize): void {
  if (answer.complete) return;
  feedEvent(answer, ptr, end);
  if (answer.plain) answer.errorTextLength = answer.textLength;
  if (!isClosed(answer)) return;
  answer.complete = true;
  commit(answer, answer.hasError);
}

/** Only the end shows that a string, a number or a word at the top is whole. */
function endBody(answer: AnswerReader): void {
  if (answer.plain) {
    if (isScalar(textOf(answer), answer.textLength) && answer.textLength < ERROR_ROOM) {
      answer.plain = false;
      answer.mode = JsonMode.DONE;
      answer.textLength = 0;
      answer.errorTextLength = 0;
    } else if (answer.errorKind === ErrorKind.UNKNOWN) {
      answer.errorKind = <u8>kindOfText(textOf(answer), answer.textLength);
    }
  } else if (answer.mode === JsonMode.AFTER && answer.depth === 0) {
    answer.mode = JsonMode.DONE;
  }
  answer.complete = isClosed(answer);
  commit(answer, answer.hasError);
}

function feedStream(answer: AnswerReader, ptr: usize, end: usize): void {
  const sse = sseOf(answer);
  sse.at = ptr;
  sse.end = end;
  while (true) {
    switch (nextPart(sse)) {
      case SsePart.LINE:
        answer.lineStart = true;
        break;
      case SsePart.DATA:
        // Some servers end events by one line end only: a value that is closed or broken can't go on, so this is a new one.
        if (answer.lineStart && (isClosed(answer) || isBroken(answer))) endEvent(answer, sse);
        answer.lineStart = false;
        feedEvent(answer, sse.from, sse.to);
        // Not only at the blank line: the first token should not wait for it.
        if (isClosed(answer)) commit(answer, answer.hasError || sse.isError);
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

function endEvent(answer: AnswerReader, sse: SseReader): void {
  // What is closed was committed with its last byte; the event's own type may come after that.
  if (!isClosed(answer) || sse.isError) commit(answer, answer.hasError || sse.isError);
  if (sse.hasData && !answer.isDone) answer.events++;
  if (answer.plain || (!isClosed(answer) && answer.mode !== JsonMode.START)) answer.malformed = true;
  restartEvent(answer);
}

/** Makes the event's facts valid. Idempotent. */
function commit(answer: AnswerReader, failed: bool): void {
  const closed = isClosed(answer);
  if (failed) {
    answer.errorSeen = true;
    if (answer.errorCode < 0) answer.errorCode = answer.code;
  } else if (closed && (answer.hasToken || (answer.hasEngineText && !answer.isSpecial))) {
    answer.firstToken = true;
  }
  if (failed || !answer.eventStream) keepError(answer);
  if (!closed) return;
  if (answer.isDone) answer.doneMarkSeen = true;
  if (answer.isDone || answer.hasEnd) answer.doneSeen = true;
  if (answer.hasAbnormalFinish) answer.finish = <u8>Finish.ABNORMAL;
  else if (answer.hasFinish && answer.finish === Finish.NONE) answer.finish = <u8>Finish.NORMAL;
  closeChoice(answer);
  answer.begunChoices |= answer.begun;
  answer.finishedChoices |= answer.finished;
}

/** The text in the room is the error's from now on: nothing may be written over it. Its code or type outweighs it. */
function keepError(answer: AnswerReader): void {
  const word = <i32>answer.wordKind;
  if (answer.errorKind === ErrorKind.UNKNOWN && word !== NOT_CONTEXT) answer.errorKind = <u8>word;
  if (answer.errorTextLength > 0 || answer.textLength === 0) return;
  answer.errorTextLength = answer.textLength;
  answer.textLimit = 0;
  if (answer.errorKind !== ErrorKind.UNKNOWN) return;
  const told = kindOfText(textOf(answer), answer.textLength);
  if (word !== NOT_CONTEXT || told !== ErrorKind.CONTEXT_LENGTH) answer.errorKind = <u8>told;
}
