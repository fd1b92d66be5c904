import { Kind } from "./answer-keys";
import { JsonMode, resetScanner } from "./json-state";
import { TextScanner512 } from "./text-room";

/** Choices of an answer that are told apart. */
const MAX_CHOICES: u32 = 32;

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
  /** The event is the last one of its dialect. */
  hasEnd: bool;
  /** The object is a `response` of OpenAI Responses. */
  isResponse: bool;
  /** Its status is `failed`. */
  hasFailed: bool;
  /** TGI: it holds a token's text; the token is special. */
  hasEngineText: bool;
  isSpecial: bool;
  /** The choice that is being read has a finish reason. */
  choiceFinished: bool;
  /** Of the error's code or type: an `ErrorKind`, or `NOT_CONTEXT`. */
  wordKind: u8;
  /** The payload is no JSON; its raw start is the text. */
  plain: bool;
  /** The error's numeric code, or one spelt as digits; -1 when unknown. */
  code: i32;
  /** From the last `usage` of all events; -1 when unknown. */
  promptTokens: i32;
  completionTokens: i32;
  /** Sum of the prompt's parts in the `usage` that is being read. */
  inputTokens: i32;
  /** Choices in this event so far. */
  choices: i32;
  /** Index of the choice that is being read. */
  choiceIndex: i32;
  /** Bit n: choice n is in this event; it has a finish reason here. */
  begun: u32;
  finished: u32;
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
  event.hasEnd = false;
  event.isResponse = false;
  event.hasFailed = false;
  event.hasEngineText = false;
  event.isSpecial = false;
  event.wordKind = 0;
  event.plain = false;
  event.code = -1;
  event.choices = 0;
  event.begun = 0;
  event.finished = 0;
}

/** The event's JSON is whole. */
export function isClosed(event: AnswerEvent): bool {
  return event.mode === JsonMode.DONE;
}

/** The event is no JSON: nothing more can come of it. */
export function isBroken(event: AnswerEvent): bool {
  return event.plain || event.mode === JsonMode.BROKEN;
}

/** A choice begins. One without an index is known by its place. */
export function openChoice(event: AnswerEvent): void {
  closeChoice(event);
  event.choiceIndex = event.choices++;
  event.choiceFinished = false;
}

/** Files the choice that was read last, if there is one. Idempotent. */
export function closeChoice(event: AnswerEvent): void {
  if (event.choices === 0 || <u32>event.choiceIndex >= MAX_CHOICES) return;
  const bit: u32 = (<u32>1) << event.choiceIndex;
  event.begun |= bit;
  if (event.choiceFinished) event.finished |= bit;
}
