// Attempts that the service has failed, and not the backend: a body that was not fitted to it, which the guard kept back, or an
// answer that was not translated. Nobody's failure; the next tier's turn, or an answer of ours.
import { readProperty } from "../host/properties";
import { resultPtr, resultSize } from "../host/result";
import * as names from "../names";
import { answerOf, MeterSlot, Reading } from "./slot";

/** Whether the guard kept this attempt's body from the backend, whatever was answered to what was sent instead. */
export function wasDiverted(slot: MeterSlot): bool {
  if (!slot.isRewritten || !readProperty(names.STATE_DIVERTED) || resultSize() !== 1) return false;
  return load<u8>(resultPtr()) === slot.attempt;
}

/**
 * A translated answer may have lost its translator half-way, and then goes on in the backend's own words, to its own end
 * mark: the end of a chat must be there, each choice finished and the stream marked as done in the way of a chat.
 */
export function lacksEnd(slot: MeterSlot): bool {
  if (!slot.isTranslated) return false;
  const answer = answerOf(slot);
  if (answer.begunChoices === 0 || (answer.begunChoices & ~answer.finishedChoices) !== 0) return true;
  return slot.reading === Reading.EVENTS && !answer.doneMarkSeen;
}
