// Tells what an answer has used, for whoever settles a caller's limits: Envoy's access log carries the filter state.
import { allocate } from "../host/arena";
import { writeFilterState } from "../host/properties";
import { decimal, decimalLength, Text } from "../host/text";
import * as names from "../names";
import { answerOf, backendOf, MeterSlot, Reading } from "./slot";

const PROMPT = Text.of('"prompt":');
const COMPLETION = Text.of('"completion":');
const BACKEND = Text.of('"backend":"');
const END = Text.of('"}');
/** An alias of 63 bytes, two numbers of at most ten digits, and the text around them. */
const ROOM: i32 = 160;

/** Writes what is known. What is not told is left out, and with nothing told there is no state: a reservation then stands. */
export function tellUsage(slot: MeterSlot): void {
  if (slot.reading !== Reading.EVENTS && slot.reading !== Reading.JSON) return;
  const answer = answerOf(slot);
  if (answer.promptTokens < 0 && answer.completionTokens < 0) return;
  const start = allocate(ROOM);
  if (start === 0) return;
  store<u8>(start, 0x7b);
  let at = putNumber(start + 1, PROMPT, answer.promptTokens);
  at = putNumber(at, COMPLETION, answer.completionTokens);
  at = putText(at, BACKEND);
  at = putText(at, backendOf(slot).aliasText);
  at = putText(at, END);
  writeFilterState(names.STATE_USAGE, start, <i32>(at - start));
}

function putNumber(at: usize, key: Text, value: i32): usize {
  if (value < 0) return at;
  const digits = decimal(value);
  if (digits === 0) return at;
  const length = decimalLength();
  const end = putText(at, key);
  memory.copy(end, digits, length);
  store<u8>(end + length, 0x2c);
  return end + <usize>length + 1;
}

function putText(at: usize, text: Text): usize {
  memory.copy(at, text.ptr, text.length);
  return at + <usize>text.length;
}
