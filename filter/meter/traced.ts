// What an attempt's span tells that Envoy does not know: the tier's place and how its backend stood when it was asked.
import { BackendRecord } from "../breaker/record";
import { State, stateName } from "../breaker/state";
import { writeFilterState } from "../host/properties";
import { decimal, decimalLength, Text } from "../host/text";
import * as names from "../names";
import { readRecord } from "../records";
import { backendOf, MeterSlot } from "./slot";

const STATES: Text[] = [
  Text.of(stateName(State.CLOSED)),
  Text.of(stateName(State.OPEN)),
  Text.of(stateName(State.HALF_OPEN)),
];

/** Only where the policy asks for it: a look at shared data, and two filter states. */
export function tellSpan(slot: MeterSlot): void {
  const place = decimal(<u64>slot.tier + 1);
  if (place !== 0) writeFilterState(names.STATE_TIER, place, decimalLength());
  const ptr = readRecord(backendOf(slot), slot.startMs);
  if (ptr === 0) return;
  const state = changetype<BackendRecord>(ptr).state;
  if (<i32>state >= STATES.length) return;
  const name = unchecked(STATES[state]);
  writeFilterState(names.STATE_STATE, name.ptr, name.length);
}
