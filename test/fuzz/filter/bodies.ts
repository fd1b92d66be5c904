// The parsers of bodies, each in one place of memory that is used for case after case, as a stream's slot is.
import {
  AnswerReader,
  endAnswer,
  errorText,
  feedAnswer,
  isWhole,
  resetAnswer,
} from "../../../filter/bytes/answer";
import {
  feedPeek,
  isAmbiguous,
  namesModel,
  peekModel,
  RequestPeek,
  resetPeek,
} from "../../../filter/bytes/request-peek";
import { nextPart, nextSseEvent, resetSse, SsePart, SseReader } from "../../../filter/bytes/sse";
import { guarded, isIntact } from "./guard-words";
import { roomAt } from "./guarded";

const FACTS: i32 = 20;
const facts = new StaticArray<i32>(FACTS);
const answer = changetype<AnswerReader>(guarded(offsetof<AnswerReader>()));
const peek = changetype<RequestPeek>(guarded(offsetof<RequestPeek>()));
const sse = changetype<SseReader>(guarded(offsetof<SseReader>()));

/** What the last `answerFacts` or `peekFacts` has told: numbers in the order in which they are set there. */
export function factsAt(): usize {
  return changetype<usize>(facts);
}

export function answerReset(isEventStream: bool): void {
  memory.fill(changetype<usize>(answer), 0xcc, offsetof<AnswerReader>());
  resetAnswer(answer, isEventStream);
}

export function answerFeed(ptr: usize, length: i32): void {
  feedAnswer(answer, ptr, length);
}

export function answerEnd(): void {
  endAnswer(answer);
}

/** Where the error's text is. */
export function answerFacts(): usize {
  facts[0] = isIntact(changetype<usize>(answer), offsetof<AnswerReader>());
  facts[1] = answer.firstToken;
  facts[2] = answer.errorSeen;
  facts[3] = answer.doneSeen;
  facts[4] = answer.doneMarkSeen;
  facts[5] = answer.malformed;
  facts[6] = answer.complete;
  facts[7] = answer.finish;
  facts[8] = answer.errorKind;
  facts[9] = answer.errorTextLength;
  facts[10] = answer.errorCode;
  facts[11] = answer.events;
  facts[12] = answer.begunChoices;
  facts[13] = answer.finishedChoices;
  facts[14] = answer.promptTokens;
  facts[15] = answer.completionTokens;
  facts[16] = isWhole(answer);
  return errorText(answer);
}

export function peekReset(): void {
  memory.fill(changetype<usize>(peek), 0xcc, offsetof<RequestPeek>());
  resetPeek(peek);
}

export function peekFeed(ptr: usize, length: i32): void {
  feedPeek(peek, ptr, length);
}

/** Where the model's name is. */
export function peekFacts(): usize {
  facts[0] = isIntact(changetype<usize>(peek), offsetof<RequestPeek>());
  facts[1] = peek.stream;
  facts[2] = peek.complete;
  facts[3] = peek.malformed;
  facts[4] = peek.modelTruncated;
  facts[5] = peek.maxTokens;
  facts[6] = peek.n;
  facts[7] = peek.modelLength;
  facts[8] = isAmbiguous(peek);
  facts[9] = namesModel(peek);
  facts[10] = peek.hasModelKey;
  return peekModel(peek);
}

let written: i32 = 0;

export function sseReset(): void {
  written = 0;
  resetSse(sse);
}

/** Writes the data of each event with data into the room: a NUL before each line, 1 behind each event. Bytes so far. */
export function sseFeed(ptr: usize, length: i32): i32 {
  sse.at = ptr;
  sse.end = ptr + <usize>length;
  while (true) {
    switch (nextPart(sse)) {
      case SsePart.LINE:
        store<u8>(roomAt() + written++, 0);
        break;
      case SsePart.DATA:
        memory.copy(roomAt() + written, sse.from, sse.to - sse.from);
        written += <i32>(sse.to - sse.from);
        break;
      case SsePart.EVENT:
        if (sse.hasData) store<u8>(roomAt() + written++, 1);
        nextSseEvent(sse);
        break;
      default:
        return written;
    }
  }
}
