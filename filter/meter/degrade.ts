// How a backend fares when an attempt starts: the service, and the matcher before it, cut requests down while it is weak.
import { BackendRecord } from "../breaker/record";
import { State } from "../breaker/state";
import { writeFilterState } from "../host/properties";
import { Text } from "../host/text";
import * as names from "../names";
import { readRecord } from "../records";
import { backendOf, MeterSlot } from "./slot";

const HALF_OPEN = Text.of("half-open");
const QUEUE = Text.of("queue");
const NO = Text.of("no");

/** Only for clusters that ask for it: it costs a look at shared data, and two where no permit tells. */
export function tellDegrade(slot: MeterSlot): void {
  const why = reason(slot);
  writeFilterState(names.STATE_DEGRADE, why.ptr, why.length);
}

function reason(slot: MeterSlot): Text {
  if (slot.permit !== 0 || isHalfOpen(slot)) return HALF_OPEN;
  return backendOf(slot).directive.isQueueLong ? QUEUE : NO;
}

/** Without a permit a half-open backend is asked in shadow mode, or when nobody else is left. */
function isHalfOpen(slot: MeterSlot): bool {
  const ptr = readRecord(backendOf(slot), slot.startMs);
  return ptr !== 0 && changetype<BackendRecord>(ptr).state === State.HALF_OPEN;
}
