import { RequestPeek } from "../bytes/request-peek";
import { Slot, SlotPool } from "../host/contexts";
import { REQUEST_SIZE, RequestRecord } from "../request-record";

/** What the gate remembers of a live request. The request's record and the body's peek follow in memory. */
@unmanaged
export class GateSlot extends Slot {
  isPeeking: bool;
  /** More than headers came, or is to come. */
  hasBody: bool;
  /** The body is in a coding that is not read here. */
  isCoded: bool;
  /** Drawn to be a canary of tier `drawnTier`, 0xff = not. */
  drawnTier: u8;
  /** It asked for a count or holds a permit: something may have to be given back at the end. */
  mayHoldPermit: bool;
  scanned: i32;
  contentLength: i32;
}

const REQUEST_OFFSET: usize = (offsetof<GateSlot>() + 7) & ~7;
const PEEK_OFFSET: usize = REQUEST_OFFSET + <usize>((REQUEST_SIZE + 7) & ~7);

export const gateSlots: SlotPool = new SlotPool(<i32>(PEEK_OFFSET + offsetof<RequestPeek>() + 15) & ~15);

export function requestOf(slot: GateSlot): RequestRecord {
  return changetype<RequestRecord>(changetype<usize>(slot) + REQUEST_OFFSET);
}

export function peekOf(slot: GateSlot): RequestPeek {
  return changetype<RequestPeek>(changetype<usize>(slot) + PEEK_OFFSET);
}
