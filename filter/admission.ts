// What an admission goes by. A Closed backend's record is read once a tick: the gauge that every opening sets tells
// for a fraction of the price that it still is Closed (docs/decisions/0036).
import { BackendRecord, initHead } from "./breaker/record";
import { State } from "./breaker/state";
import { Backend } from "./policy/policy";
import { readRecord } from "./records";
import { isToldClosed } from "./steady";

/** Should two workers have set the gauge in the wrong order, the record is looked at again by then. */
const FRESH_MS: u64 = 250;

/** The one that stands for every Closed record: an admission asks for no more of it than its state and generation. */
const closed: usize = heap.alloc(offsetof<BackendRecord>());
initHead(closed);

/** A record's head, as far as an admission needs it; 0 when there is none. */
export function readState(backend: Backend, now: u64): usize {
  if (isKnownClosed(backend, now)) {
    changetype<BackendRecord>(closed).generation = backend.closedGeneration;
    return closed;
  }
  backend.closedGeneration = 0;
  const ptr = readRecord(backend, now);
  if (ptr === 0) return 0;
  const record = changetype<BackendRecord>(ptr);
  if (record.state === State.CLOSED) {
    backend.closedGeneration = record.generation;
    backend.closedMs = now;
  }
  return ptr;
}

function isKnownClosed(backend: Backend, now: u64): bool {
  if (backend.closedGeneration === 0 || now < backend.closedMs || now >= backend.closedMs + FRESH_MS)
    return false;
  return isToldClosed(backend);
}
