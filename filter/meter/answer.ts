// What an answer is worth: from its status, its body's message, or its events.

import { Outcome } from "../breaker/outcome";
import { AnswerReader, errorText, Finish } from "../bytes/answer";
import { classifyEngineError, EngineError } from "../bytes/engine-error";
import { MeterSlot, Reading } from "./slot";

const RATE_LIMITED: i32 = 429;
const UNAVAILABLE: i32 = 503;
const OVERLOADED: i32 = 529;
const FAILED_GENERATION: i32 = 424; // Text Generation Inference: a dead or failing shard

/** Whether a status alone tells that the attempt did not go well for the backend. */
export function isBadStatus(status: i32): bool {
  return status >= 500 || status === RATE_LIMITED || status === FAILED_GENERATION;
}

/**
 * The outcome of an answer with an error status. What the engine itself says in the body counts more than the status: some
 * answer 400 for everything, a dead engine too. A body that is no JSON is only trusted to be the server's own above 500.
 */
export function errorStatusOutcome(slot: MeterSlot, answer: AnswerReader): i32 {
  const told =
    slot.reading === Reading.ERROR && (slot.status >= 500 || !answer.plain) ? messageOutcome(answer) : -1;
  if (told >= 0) return told;
  if (slot.status === RATE_LIMITED || slot.status === OVERLOADED) return Outcome.BACKPRESSURE;
  if (slot.status === UNAVAILABLE && slot.sawRetryAfter) return Outcome.BACKPRESSURE;
  return isBadStatus(slot.status) ? Outcome.FAILURE : Outcome.NEUTRAL;
}

/** The outcome of a whole 2xx answer. */
export function completeOutcome(slot: MeterSlot, answer: AnswerReader): i32 {
  if (slot.reading === Reading.NONE) return Outcome.SUCCESS;
  if (answer.errorSeen) return errorOutcome(answer);
  if (answer.finish === Finish.ABNORMAL) return Outcome.FAILURE;
  if (slot.reading === Reading.JSON) return answer.complete ? Outcome.SUCCESS : Outcome.FAILURE;
  if (answer.finish === Finish.NORMAL) return Outcome.SUCCESS;
  return answer.doneSeen && answer.firstToken ? Outcome.SUCCESS : Outcome.FAILURE;
}

/** The outcome of an error inside a 2xx answer. */
export function errorOutcome(answer: AnswerReader): i32 {
  const told = messageOutcome(answer);
  return told >= 0 ? told : Outcome.FAILURE;
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
