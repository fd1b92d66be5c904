import { BackendRecord } from "../breaker/record";

/** A breaker that moves more often within an hour is told up to here. */
const ROOM: i32 = 4096;
const FIELDS: i32 = 7;

@final
class Transitions {
  count: i32 = 0;
  readonly ptr: usize = heap.alloc(<usize>(ROOM * FIELDS) * sizeof<i32>());
}

export const transitions = new Transitions();

export function noTransition(): void {
  transitions.count = 0;
}

export function noteTransition(record: BackendRecord, from: i32, atMs: u64): void {
  if (transitions.count === ROOM) return;
  const at = transitions.ptr + <usize>(transitions.count++ * FIELDS) * sizeof<i32>();
  const waitMs = record.openUntilMs > record.stateSinceMs ? record.openUntilMs - record.stateSinceMs : 0;
  store<i32>(at, <i32>atMs);
  store<i32>(at + 4, from);
  store<i32>(at + 8, record.state);
  store<i32>(at + 12, record.stage);
  store<i32>(at + 16, record.lastCause);
  store<i32>(at + 20, record.openings);
  store<i32>(at + 24, <i32>min<u64>(waitMs, <u64>i32.MAX_VALUE));
}
