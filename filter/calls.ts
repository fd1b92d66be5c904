// Calls in flight at a backend over all workers, for those with `maxConcurrentCalls`. Each VM keeps one line of a table in
// shared data, and renews it: the calls of a VM that died are forgotten after a few seconds.
import { allocate } from "./host/arena";
import { secret64 } from "./host/clock";
import { resultPtr, resultSize } from "./host/result";
import { MAX_TRIES, readShared, replaceShared } from "./host/shared-data";
import { CallCount } from "./policy/call-count";
import { Backend } from "./policy/policy";

const MAX_VMS: i32 = 128;
const LIFE_MS: u64 = 5000;
const RENEW_MS: u64 = 2000;

/** One VM's calls. */
@unmanaged
class Line {
  vm: u64;
  untilMs: u64;
  calls: u64;
}

let self: u64 = 0;

/** Whether one more call is within the backend's limit. Workers that ask at the same moment may exceed it by one each. */
export function hasRoom(backend: Backend, now: u64): bool {
  const most = backend.maxConcurrentCalls;
  if (most === 0 || !readShared(backend.calls.key)) return true;
  const table = resultPtr();
  const size = <usize>resultSize();
  let calls: u64 = 0;
  for (let at: usize = 0; at + offsetof<Line>() <= size; at += offsetof<Line>()) {
    const line = changetype<Line>(table + at);
    if (line.untilMs > now) calls += line.calls;
  }
  return calls < <u64>most;
}

export function startCall(backend: Backend, now: u64): void {
  backend.calls.inFlight++;
  if (backend.maxConcurrentCalls > 0) tell(backend.calls, now);
}

export function endCall(backend: Backend, now: u64): void {
  backend.calls.inFlight--;
  if (backend.maxConcurrentCalls > 0) tell(backend.calls, now);
}

/** Called with each tick. */
export function renewCalls(backend: Backend, now: u64): void {
  const count = backend.calls;
  if (backend.maxConcurrentCalls === 0) return;
  const isStale = count.inFlight > 0 && now + LIFE_MS >= count.toldUntilMs + RENEW_MS;
  if (isStale || count.inFlight !== count.told) tell(count, now);
}

/** Writes this VM's line, in place of a dead one's or of its own earlier one. */
function tell(count: CallCount, now: u64): void {
  if (self === 0) self = secret64() | 1;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const isThere = readShared(count.key);
    const size = isThere ? <usize>resultSize() : 0;
    const table = allocate(size + offsetof<Line>());
    if (table === 0) return;
    if (isThere) memory.copy(table, resultPtr(), size);
    const at = lineOf(table, size, now);
    if (at === size && size >= <usize>MAX_VMS * offsetof<Line>()) return;
    const line = changetype<Line>(table + at);
    line.vm = self;
    line.untilMs = now + LIFE_MS;
    line.calls = max(count.inFlight, 0);
    const newSize = <i32>max(size, at + offsetof<Line>());
    if (!replaceShared(count.key, table, newSize, isThere)) continue;
    count.told = count.inFlight;
    count.toldUntilMs = now + LIFE_MS;
    return;
  }
}

/** The offset of this VM's line, else of a dead one, else of the end. */
function lineOf(table: usize, size: usize, now: u64): usize {
  let free = size;
  for (let at: usize = 0; at + offsetof<Line>() <= size; at += offsetof<Line>()) {
    const line = changetype<Line>(table + at);
    if (line.vm === self) return at;
    if (free === size && line.untilMs <= now) free = at;
  }
  return free;
}
