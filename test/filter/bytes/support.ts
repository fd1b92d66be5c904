import {
  AnswerReader,
  endAnswer,
  errorText,
  Finish,
  feedAnswer,
  isWhole,
  resetAnswer,
} from "../../../filter/bytes/answer";
import { FACTS_SIZE, isBetweenEvents, loadFacts, saveFacts } from "../../../filter/bytes/answer-facts";
import { ErrorKind } from "../../../filter/bytes/error-kind";
import {
  feedPeek,
  isAmbiguous,
  namesModel,
  peekModel,
  RequestPeek,
  resetPeek,
} from "../../../filter/bytes/request-peek";
import { guarded, isIntact } from "../../fuzz/filter/guard-words";

/** Each fixture is cut in this many random ways. */
const RANDOM_CUTS: i32 = 24;

/** Repeatable noise (xorshift32). */
export class Noise {
  constructor(private state: u32) {}

  next(bound: i32): i32 {
    let value = this.state;
    value ^= value << 13;
    value ^= value >> 17;
    value ^= value << 5;
    this.state = value;
    return <i32>(value % <u32>bound);
  }
}

let edge: i32 = 0;

/** Room for `length` bytes at the very end of memory: a read past them would trap. */
export function atMemoryEnd(length: i32): usize {
  if (edge !== memory.size()) {
    memory.grow((length >> 16) + 2);
    edge = memory.size();
  }
  return ((<usize>edge) << 16) - <usize>length;
}

const answer = changetype<AnswerReader>(guarded(offsetof<AnswerReader>()));
const peek = changetype<RequestPeek>(guarded(offsetof<RequestPeek>()));

const parked = guarded(FACTS_SIZE);

/** Goes on with another reader, which was somebody else's, where that is allowed; whether it was. */
export function changeReader(answer: AnswerReader): bool {
  if (!isBetweenEvents(answer)) return false;
  saveFacts(answer, parked);
  memory.fill(changetype<usize>(answer), 0xcc, offsetof<AnswerReader>());
  resetAnswer(answer, true);
  loadFacts(parked, answer);
  return true;
}

/** What a stream (or an answer in one piece) tells; the same however it is cut, or a complaint. */
export function answerFacts(body: string, eventStream: bool): string {
  const bytes = String.UTF8.encode(body);
  const whole = readAnswer(bytes, eventStream, bytes.byteLength, null);
  const single = readAnswer(bytes, eventStream, 1, null);
  if (whole !== single) return "byte by byte: " + single + " | whole: " + whole;
  const noise = new Noise(7);
  for (let i = 0; i < RANDOM_CUTS; i++) {
    const cut = readAnswer(bytes, eventStream, 1 + noise.next(40), noise);
    if (whole !== cut) return "cut: " + cut + " | whole: " + whole;
  }
  return whole;
}

/** As `answerFacts`, with ` whole` when the answer reached its proper end; cut in two at every position, too. */
export function wholeFacts(body: string, eventStream: bool): string {
  const facts = answerFacts(body, eventStream);
  const bytes = String.UTF8.encode(body);
  const last = readAnswer(bytes, eventStream, bytes.byteLength, null);
  const whole = isWhole(answer);
  for (let cut = 1; cut < bytes.byteLength; cut++) {
    const found = readAnswer(bytes, eventStream, cut, null);
    if (found !== last || isWhole(answer) !== whole) return "pieces of " + cut.toString() + ": " + found;
  }
  return whole ? (facts + " whole").trimStart() : facts;
}

export function streamFacts(body: string): string {
  return answerFacts(body, true);
}

export function bodyFacts(body: string): string {
  return answerFacts(body, false);
}

function readAnswer(bytes: ArrayBuffer, eventStream: bool, step: i32, noise: Noise | null): string {
  memory.fill(changetype<usize>(answer), 0xcc, offsetof<AnswerReader>());
  resetAnswer(answer, eventStream);
  let at: i32 = 0;
  while (at < bytes.byteLength) {
    const wanted = noise === null ? step : 1 + noise.next(step);
    const length = min(wanted, bytes.byteLength - at);
    // A copy of its own for each chunk: nothing may be read before or after it.
    const chunk = atMemoryEnd(length);
    memory.copy(chunk, changetype<usize>(bytes) + <usize>at, <usize>length);
    feedAnswer(answer, chunk, length);
    memory.fill(chunk, 0xcc, <usize>length);
    at += length;
    changeReader(answer);
  }
  endAnswer(answer);
  const first = listAnswer();
  endAnswer(answer);
  if (first !== listAnswer()) return "a second end changes " + first;
  if (!isIntact(changetype<usize>(answer), offsetof<AnswerReader>()) || !isIntact(parked, FACTS_SIZE))
    return "memory beside the reader was written";
  return first;
}

function listAnswer(): string {
  let facts = "";
  if (answer.firstToken) facts += "token ";
  if (answer.errorSeen) facts += "error ";
  if (answer.finish === Finish.NORMAL) facts += "finish ";
  if (answer.finish === Finish.ABNORMAL) facts += "abnormal ";
  if (answer.doneSeen) facts += "done ";
  if (answer.complete) facts += "complete ";
  if (answer.promptTokens >= 0) facts += "prompt:" + answer.promptTokens.toString() + " ";
  if (answer.completionTokens >= 0) facts += "completion:" + answer.completionTokens.toString() + " ";
  if (answer.errorCode >= 0) facts += "code:" + answer.errorCode.toString() + " ";
  if (answer.errorKind !== ErrorKind.UNKNOWN) facts += "kind:" + kindName(answer.errorKind) + " ";
  if (answer.events > 0) facts += "events:" + answer.events.toString() + " ";
  if (answer.errorTextLength > 0) {
    facts += "text:" + String.UTF8.decodeUnsafe(errorText(answer), <usize>answer.errorTextLength) + " ";
  }
  return facts.trimEnd();
}

export function kindName(kind: i32): string {
  switch (kind) {
    case ErrorKind.UNKNOWN:
      return "unknown";
    case ErrorKind.CONTEXT_LENGTH:
      return "context";
    case ErrorKind.CONTENT_FILTER:
      return "filter";
    case ErrorKind.MODEL_NOT_FOUND:
      return "model";
    case ErrorKind.QUOTA:
      return "quota";
    default:
      return "not a kind";
  }
}

/** What a request's body tells; the same however it is cut, or a complaint. */
export function peekFacts(body: string): string {
  const bytes = String.UTF8.encode(body);
  const whole = readPeek(bytes, bytes.byteLength, null);
  const single = readPeek(bytes, 1, null);
  if (whole !== single) return "byte by byte: " + single + " | whole: " + whole;
  const noise = new Noise(11);
  for (let i = 0; i < RANDOM_CUTS; i++) {
    const cut = readPeek(bytes, 1 + noise.next(40), noise);
    if (whole !== cut) return "cut: " + cut + " | whole: " + whole;
  }
  return whole;
}

function readPeek(bytes: ArrayBuffer, step: i32, noise: Noise | null): string {
  memory.fill(changetype<usize>(peek), 0xcc, offsetof<RequestPeek>());
  resetPeek(peek);
  let at: i32 = 0;
  while (at < bytes.byteLength) {
    const wanted = noise === null ? step : 1 + noise.next(step);
    const length = min(wanted, bytes.byteLength - at);
    const chunk = atMemoryEnd(length);
    memory.copy(chunk, changetype<usize>(bytes) + <usize>at, <usize>length);
    feedPeek(peek, chunk, length);
    memory.fill(chunk, 0xcc, <usize>length);
    at += length;
  }
  if (!isIntact(changetype<usize>(peek), offsetof<RequestPeek>()))
    return "memory beside the peek was written";
  return listPeek();
}

function listPeek(): string {
  let facts = "";
  if (peek.modelLength >= 0) {
    facts += "model:" + String.UTF8.decodeUnsafe(peekModel(peek), <usize>peek.modelLength) + " ";
  }
  if (peek.modelTruncated) facts += "truncated ";
  if (isAmbiguous(peek)) facts += "ambiguous ";
  if (peek.modelLength >= 0 && peek.complete && !peek.modelTruncated && !namesModel(peek))
    facts += "unnamed ";
  if (peek.stream >= 0) facts += "stream:" + peek.stream.toString() + " ";
  if (peek.maxTokens >= 0) facts += "max:" + peek.maxTokens.toString() + " ";
  if (peek.n >= 0) facts += "n:" + peek.n.toString() + " ";
  if (peek.complete) facts += "complete ";
  if (peek.malformed) facts += "malformed ";
  return facts.trimEnd();
}
