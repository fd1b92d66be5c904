// Attempts that the service has failed, and not the backend: a body that was not fitted to it, which the guard kept back.
import { readProperty } from "../host/properties";
import { resultPtr, resultSize } from "../host/result";
import * as names from "../names";
import { MeterSlot } from "./slot";

/** Whether the guard kept this attempt's body from the backend, whatever was answered to what was sent instead. */
export function wasDiverted(slot: MeterSlot): bool {
  if (!slot.isRewritten || !readProperty(names.STATE_DIVERTED) || resultSize() !== 1) return false;
  return load<u8>(resultPtr()) === slot.attempt;
}
