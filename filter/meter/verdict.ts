// What an answer is worth: from its status, its body's message, its events, and what the operator says of them.

import { Outcome } from "../breaker/outcome";
import { AnswerReader, errorText, Finish, isWhole } from "../bytes/answer";
import { matchedRule } from "../bytes/body-rules";
import { classifyEngineError, EngineError } from "../bytes/engine-error";
import { ErrorKind } from "../bytes/error-kind";
import { Failure } from "../policy/failure";
import { lacksEnd } from "./diverted";
import { NOT_TOLD } from "./response-headers";
import { answerOf, backendOf, MeterSlot, matcherOf, Phase, Reading, requestOf } from "./slot";

const RATE_LIMITED: i32 = 429;
const UNAVAILABLE: i32 = 503;
const OVERLOADED: i32 = 529;
const FAILED_GENERATION: i32 = 424; // Text Generation Inference: a dead or failing shard

/** Whether a status alone tells that the attempt did not go well for the backend. */
export function isBadStatus(status: i32): bool {
  return status >= 500 || status === RATE_LIMITED || status === FAILED_GENERATION;
}

/** 401 or 403: whose fault it is depends on whose credentials they were. */
export function isDenied(status: i32): bool {
  return status === 401 || status === 403;
}

/** A caller's content was refused, by the words of a provider: no matter whose credentials they were. */
export function isModerated(slot: MeterSlot): bool {
  return slot.reading === Reading.ERROR && answerOf(slot).errorKind === ErrorKind.CONTENT_FILTER;
}

/**
 * The outcome of an answer with an error status. What the engine itself says in the body counts more than the status: some
 * answer 400 for everything, a dead engine too. A body that is no JSON is only trusted to be the server's own above 500.
 */
export function errorStatusOutcome(slot: MeterSlot): i32 {
  const answer = answerOf(slot);
  const ruled = ruledOutcome(slot);
  if (ruled >= 0) return ruled;
  const isTrusted = slot.reading === Reading.ERROR && (slot.status >= 500 || !answer.plain);
  const told = isTrusted ? messageOutcome(answer) : -1;
  if (told >= 0) return told;
  const set = backendOf(slot).rules.ofStatus(slot.status);
  if (set >= 0) return set;
  if (slot.status === RATE_LIMITED || slot.status === OVERLOADED) return Outcome.BACKPRESSURE;
  if (slot.status === UNAVAILABLE && slot.retryAfter !== NOT_TOLD) return Outcome.BACKPRESSURE;
  if (isDenied(slot.status) && slot.hasOwnCredentials && !isModerated(slot)) return Outcome.FAILURE;
  return isBadStatus(slot.status) ? Outcome.FAILURE : Outcome.NEUTRAL;
}

/** The outcome of a 2xx answer that has ended by itself. */
export function endOutcome(slot: MeterSlot): i32 {
  if (slot.reading === Reading.NONE) return Outcome.SUCCESS;
  const answer = answerOf(slot);
  const ruled = ruledOutcome(slot);
  if (ruled >= 0) return ruled;
  // Of another call's failure an object may tell at any time: a job, a batch, a response that is cancelled.
  const isChat = requestOf(slot).isChat;
  if (answer.errorSeen) return isChat ? errorOutcome(answer) : Outcome.SUCCESS;
  if (slot.reading === Reading.JSON && answer.plain && !isChat) return Outcome.SUCCESS;
  // Held to its end, an answer with a hole in it can still be replaced; one that has gone out is what it is.
  const hasHole = slot.phase === Phase.HOLDING && slot.reading === Reading.EVENTS && answer.malformed;
  return isWhole(answer) && !hasHole && !lacksEnd(slot) ? Outcome.SUCCESS : Outcome.FAILURE;
}

/** The outcome of an error that was seen in the events so far, or -1. */
export function eventOutcome(slot: MeterSlot): i32 {
  const ruled = ruledOutcome(slot);
  if (ruled >= 0) return ruled;
  const answer = answerOf(slot);
  return answer.errorSeen ? errorOutcome(answer) : -1;
}

/** How a failed end of a 2xx answer is to be called. */
export function endFailure(slot: MeterSlot, outcome: i32): Failure {
  const answer = answerOf(slot);
  const isTold = answer.errorSeen || answer.finish === Finish.ABNORMAL || ruledOutcome(slot) >= 0;
  return failureOf(outcome, isTold ? Failure.ERROR : Failure.CUT);
}

/** The name of an outcome's failure; that of a plain one is given. */
export function failureOf(outcome: i32, plain: Failure): Failure {
  switch (outcome) {
    case Outcome.SUCCESS:
      return Failure.NONE;
    case Outcome.ENGINE_FATAL:
      return Failure.ENGINE_FATAL;
    case Outcome.OUT_OF_MEMORY:
      return Failure.OUT_OF_MEMORY;
    case Outcome.BACKPRESSURE:
      return Failure.BACKPRESSURE;
    case Outcome.NEUTRAL:
      return Failure.REFUSED;
    default:
      return plain;
  }
}

/** What the operator's own texts say of the body, or -1. */
function ruledOutcome(slot: MeterSlot): i32 {
  const rules = backendOf(slot).rules;
  if (rules.body === null || slot.reading === Reading.NONE) return -1;
  const rule = matchedRule(matcherOf(slot));
  return rule < 0 ? -1 : <i32>unchecked(rules.bodyOutcomes[rule]);
}

function errorOutcome(answer: AnswerReader): i32 {
  const told = messageOutcome(answer);
  if (told >= 0) return told;
  // Some servers refuse a request inside a stream of status 200: no fault of theirs.
  const kind = answer.errorKind;
  const isRefusal = kind === ErrorKind.CONTEXT_LENGTH || kind === ErrorKind.CONTENT_FILTER;
  return isRefusal ? Outcome.NEUTRAL : Outcome.FAILURE;
}

/** What an engine's own words tell, or -1. */
function messageOutcome(answer: AnswerReader): i32 {
  if (answer.errorTextLength <= 0) return -1;
  switch (classifyEngineError(errorText(answer), answer.errorTextLength)) {
    case EngineError.DEAD:
    case EngineError.GPU_FAULT:
      return Outcome.ENGINE_FATAL;
    case EngineError.OUT_OF_MEMORY:
      return Outcome.OUT_OF_MEMORY;
    case EngineError.OVERLOADED:
      return Outcome.BACKPRESSURE;
    default:
      return -1;
  }
}
