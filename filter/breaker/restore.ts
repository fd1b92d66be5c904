import { advanceClock } from "./clock";
import { BreakerConfig } from "./config";
import { isMoving } from "./mode";
import { BackendRecord } from "./record";
import { Cause, State } from "./state";
import { openFor } from "./transitions";

/** What the process before this one knew of a backend. */
@final
export class Summary {
  state: i32 = State.CLOSED;
  openings: i32 = 0;
  /** Left of the wait. */
  waitMs: u64 = 0;
  isEvidence: bool = false;
  track: u64 = 0;
}

/**
 * Takes up an opening where the process before left it, on a record that has not moved yet. A ramp begins anew by a probe at
 * once: its canaries went with that process.
 * @returns RESTORED, or NONE: nothing was changed
 */
export function restore(record: BackendRecord, config: BreakerConfig, now: u64, summary: Summary): i32 {
  const isFresh = record.state === State.CLOSED && record.generation === 1;
  const isOpen = summary.state === State.OPEN || summary.state === State.HALF_OPEN;
  if (!isFresh || !isOpen || !isMoving(config.mode)) return Cause.NONE;
  const waitMs = summary.state === State.OPEN ? summary.waitMs : 0;
  record.isEvidence = summary.isEvidence ? 1 : 0;
  record.track = max(record.track, summary.track);
  openFor(record, config, advanceClock(record, now), max(summary.openings, 1), waitMs, Cause.RESTORED);
  return Cause.RESTORED;
}
