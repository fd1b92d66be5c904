import { addSaturating } from "./arithmetic";
import { BackendRecord, MAX_PERMITS, Permit, permitAt } from "./record";

/** Permits that are held and alive. O(`MAX_PERMITS`). */
export function livePermits(record: BackendRecord, now: u64): i32 {
  let live = 0;
  for (let i = 0; i < MAX_PERMITS; i++) {
    if (isLive(permitAt(record, i), now)) live++;
  }
  return live;
}

/** Whether the permit is held and alive. Id 0 never is. */
export function isPermitLive(record: BackendRecord, id: u32, now: u64): bool {
  const slot = slotOf(record, id);
  return slot >= 0 && isLive(permitAt(record, slot), now);
}

/** Takes a free slot, a dead permit's too; its id, or 0 when all are taken. */
export function takePermit(record: BackendRecord, timeoutMs: u64, now: u64): u32 {
  for (let i = 0; i < MAX_PERMITS; i++) {
    const permit = permitAt(record, i);
    if (isLive(permit, now)) continue;
    permit.id = newPermitId(record);
    permit.deadlineMs = addSaturating(now, timeoutMs);
    return permit.id;
  }
  return 0;
}

/** Moves the deadline of a live permit; a dead one stays dead, as its slot may be promised to another. */
export function extendPermit(record: BackendRecord, id: u32, timeoutMs: u64, now: u64): bool {
  const slot = slotOf(record, id);
  if (slot < 0) return false;
  const permit = permitAt(record, slot);
  if (!isLive(permit, now)) return false;
  permit.deadlineMs = addSaturating(now, timeoutMs);
  return true;
}

/** Frees the slot; false when the permit is not held (any more). */
export function freePermit(record: BackendRecord, id: u32): bool {
  const slot = slotOf(record, id);
  if (slot < 0) return false;
  const permit = permitAt(record, slot);
  permit.id = 0;
  permit.deadlineMs = 0;
  return true;
}

function isLive(permit: Permit, now: u64): bool {
  return permit.id !== 0 && permit.deadlineMs > now;
}

function slotOf(record: BackendRecord, id: u32): i32 {
  if (id === 0) return -1;
  for (let i = 0; i < MAX_PERMITS; i++) {
    if (permitAt(record, i).id === id) return i;
  }
  return -1;
}

/** Ids count up through all of u32, so that one comes again only after four billion; never 0, never one in the table. */
function newPermitId(record: BackendRecord): u32 {
  let id = record.nextPermitId;
  do {
    id++;
  } while (id === 0 || slotOf(record, id) >= 0);
  record.nextPermitId = id;
  return id;
}
