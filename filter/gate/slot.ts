import { RequestPeek } from "../bytes/request-peek";
import { Slot, SlotPool } from "../host/contexts";
import { REQUEST_SIZE, RequestRecord } from "../request-record";

/** What the gate remembers of a live request. What it needs to decide is given back once the request goes on. */
@unmanaged
export class GateSlot extends Slot {
  /** 0 = it has decided, or not begun. */
  desk: usize;
  scanned: i32;
  contentLength: i32;
  isPeeking: bool;
  /** More than headers came, or is to come. */
  hasBody: bool;
  /** The body is in a coding that is not read here. */
  isCoded: bool;
  /** Drawn to be a canary of tier `drawnTier`, 0xff = not. */
  drawnTier: u8;
  /** It asked for a count or holds a permit: something may have to be given back at the end. */
  mayHoldPermit: bool;
}

export const gateSlots: SlotPool = new SlotPool(<i32>(offsetof<GateSlot>() + 7) & ~7);

/** On a desk: the request's record, and the peek into its body. Few requests are being decided upon, however many live. */
const PEEK_OFFSET: usize = <usize>((REQUEST_SIZE + 7) & ~7);
const desks: SlotPool = new SlotPool(<i32>(PEEK_OFFSET + offsetof<RequestPeek>() + 7) & ~7);

export function requestOf(slot: GateSlot): RequestRecord {
  return changetype<RequestRecord>(deskOf(slot));
}

export function peekOf(slot: GateSlot): RequestPeek {
  return changetype<RequestPeek>(deskOf(slot) + PEEK_OFFSET);
}

function deskOf(slot: GateSlot): usize {
  if (slot.desk !== 0) return slot.desk;
  slot.desk = desks.takeAsLeft();
  // Whoever peeks resets the peek.
  memory.fill(slot.desk, 0, REQUEST_SIZE);
  return slot.desk;
}

/** Nothing of the request's record or peek is needed any more. */
export function clearDesk(slot: GateSlot): void {
  if (slot.desk !== 0) desks.give(slot.desk);
  slot.desk = 0;
}
