// What is to be remembered of an event stream between two of its events: a twentieth of what reading one takes, so that
// thousands of live streams need a few readers only.
import { AnswerReader, ERROR_ROOM, sseOf } from "./answer";
import { JsonMode } from "./json-state";
import { isAtLineStart } from "./sse";

const FROM: usize = offsetof<AnswerReader>("eventStream");
const SIZE: usize = offsetof<AnswerReader>("sse0") - FROM;
/** Room for the reader's own fields: the class's first ones. */
const KEPT: usize = 32;

@unmanaged
class AnswerFacts {
  kept0: u64;
  kept8: u64;
  kept16: u64;
  kept24: u64;
  promptTokens: i32;
  completionTokens: i32;
  byteOrderMark: i32;
  skipFeed: bool;
}

export const FACTS_SIZE: i32 = <i32>offsetof<AnswerFacts>();

/** Whether `saveFacts` loses nothing: no event has begun, and no error's text is kept. */
export function isBetweenEvents(answer: AnswerReader): bool {
  const sse = sseOf(answer);
  return (
    answer.eventStream &&
    answer.mode === JsonMode.START &&
    answer.textLength === 0 &&
    answer.textLimit === ERROR_ROOM &&
    !answer.errorSeen &&
    isAtLineStart(sse) &&
    !sse.hasData &&
    !sse.isError
  );
}

/** Writes `FACTS_SIZE` bytes to `to`. */
export function saveFacts(answer: AnswerReader, to: usize): void {
  assert(SIZE <= KEPT);
  const facts = changetype<AnswerFacts>(to);
  memory.copy(to, changetype<usize>(answer) + FROM, SIZE);
  facts.promptTokens = answer.promptTokens;
  facts.completionTokens = answer.completionTokens;
  facts.byteOrderMark = sseOf(answer).bom;
  facts.skipFeed = sseOf(answer).skipFeed;
}

/** Makes a reader that was reset for an event stream go on where another stopped. */
export function loadFacts(from: usize, answer: AnswerReader): void {
  const facts = changetype<AnswerFacts>(from);
  memory.copy(changetype<usize>(answer) + FROM, from, SIZE);
  answer.promptTokens = facts.promptTokens;
  answer.completionTokens = facts.completionTokens;
  sseOf(answer).bom = facts.byteOrderMark;
  sseOf(answer).skipFeed = facts.skipFeed;
}
