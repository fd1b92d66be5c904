// What the service has told about a backend, in shared data, for all VMs of the process. Durations became deadlines on the
// process's monotonic clock when they came; an operator's word stands here whole, so that it survives the service.
import { allocate } from "../host/arena";
import { resultPtr, resultSize } from "../host/result";
import { readShared } from "../host/shared-data";
import { Backend } from "../policy/policy";

/** "TD" and the layout's number; other bytes are as good as none. */
const LAYOUT_VERSION: u32 = 0x54440001;
export const MAX_TEXT: i32 = 256;

/** Then the bytes of `who` and of `why`. */
@unmanaged
export class Told {
  /** When the answer came, and when it was asked for. */
  toldMs: u64;
  askedMs: u64;
  mayProbeUntilMs: u64;
  /** Of the operator's word; 0 = there is none. */
  overrideUntilMs: u64;
  overrideVersion: u64;
  /** The operator's word that the log knows of; 0 = none. */
  loggedVersion: u64;

  layoutVersion: u32;
  /** Transitions up to this generation are known to the service. */
  acknowledged: u32;
  mode: i32;
  isWithdrawn: u32;
  hasSignals: u32;
  isFresh: u32;
  /** As the service tells them: 1 + thousandths, 1 + requests; 0 = unknown. */
  kvCacheUse: u32;
  isWhole: u32;
  waiting: u32;
  isQueueLong: u32;
  isGrouped: u32;
  rampShare: u32;
  whoLength: i32;
  whyLength: i32;

  get who(): usize {
    return changetype<usize>(this) + offsetof<Told>();
  }

  get why(): usize {
    return this.who + this.whoLength;
  }

  get size(): i32 {
    return <i32>offsetof<Told>() + this.whoLength + this.whyLength;
  }

  /** Whether there is an operator's word that is not over; a word that takes one back is one, too. */
  isOverridden(now: u64): bool {
    return now < this.overrideUntilMs;
  }

  /** Whether an operator's mode holds. */
  isForced(now: u64): bool {
    return this.isOverridden(now) && this.isWithdrawn === 0;
  }
}

const nothing: usize = heap.alloc(offsetof<Told>());
memory.fill(nothing, 0, offsetof<Told>());
const NOTHING: Told = changetype<Told>(nothing);

let isThere: bool = false;

/** Reads what was told about a backend, into scratch memory. Where nothing was, all of it is 0. */
export function readTold(backend: Backend): Told {
  isThere = backend.isAdvised && readShared(backend.directiveKey);
  if (!isThere || resultSize() < <i32>offsetof<Told>()) return NOTHING;
  const told = changetype<Told>(resultPtr());
  if (told.layoutVersion !== LAYOUT_VERSION) return NOTHING;
  if (<u32>told.whoLength > <u32>MAX_TEXT || <u32>told.whyLength > <u32>MAX_TEXT) return NOTHING;
  return told.size === resultSize() ? told : NOTHING;
}

/** Whether the key that was just read has any value. */
export function wasThere(): bool {
  return isThere;
}

/** Room for texts of these lengths, all else 0; null when scratch memory is exhausted. */
export function newTold(whoLength: i32, whyLength: i32): Told | null {
  const size = <i32>offsetof<Told>() + whoLength + whyLength;
  const at = allocate(size);
  if (at === 0) return null;
  memory.fill(at, 0, size);
  const told = changetype<Told>(at);
  told.layoutVersion = LAYOUT_VERSION;
  told.whoLength = whoLength;
  told.whyLength = whyLength;
  return told;
}
