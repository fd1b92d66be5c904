// What engines told of their load in their answers' headers: one small record a backend, written by ticks over all workers.
//
//   version | waiting, when | kvCacheUse, when (one slot a second, the worst of it) × 6
//
// A slot is written over by the second that comes six later, so the last five seconds always are there whole. O(1).

/** A figure older than this is believed no more. */
export const LOAD_FRESH_MS: u64 = 5000;

/**
 * So long the latest figure stands where none is fresh. A half-open backend gets few canaries, and its silence between two of
 * them is no better news; one that nobody feeds is probed, and so asked again, within half of that.
 */
export const LOAD_STANDS_MS: u64 = 60000;

const LOAD_VERSION: u32 = 0x4c4c0001;
const SLOTS: u64 = 6;
const SECOND_MS: u64 = 1000;

@unmanaged
export class LoadRecord {
  version: u32;
  /** 1 + requests that wait, by the latest answer that told; 0 = none did. */
  waiting: u32;
  waitingMs: u64;
}

@unmanaged
class LoadSlot {
  /** When the second's latest sample came. */
  atMs: u64;
  /** 1 + thousandths; 0 = nothing was told. */
  kvCacheUse: u64;
}

export const LOAD_SIZE: i32 = <i32>offsetof<LoadRecord>() + <i32>SLOTS * <i32>offsetof<LoadSlot>();

export function initLoad(ptr: usize): void {
  memory.fill(ptr, 0, LOAD_SIZE);
  changetype<LoadRecord>(ptr).version = LOAD_VERSION;
}

export function isLoadValid(ptr: usize, size: i32): bool {
  return size === LOAD_SIZE && changetype<LoadRecord>(ptr).version === LOAD_VERSION;
}

/** @param kvCacheUse 1 + thousandths */
export function fileKvCacheUse(record: LoadRecord, kvCacheUse: u32, atMs: u64): void {
  const slot = slotAt(record, (atMs / SECOND_MS) % SLOTS);
  const isSameSecond = slot.kvCacheUse > 0 && slot.atMs / SECOND_MS === atMs / SECOND_MS;
  slot.kvCacheUse = isSameSecond ? max<u64>(slot.kvCacheUse, kvCacheUse) : kvCacheUse;
  slot.atMs = isSameSecond ? max(slot.atMs, atMs) : atMs;
}

/** @param waiting 1 + requests */
export function fileWaiting(record: LoadRecord, waiting: u32, atMs: u64): void {
  // Workers file a quarter of a second after the answer, in any order.
  if (record.waiting > 0 && isFresh(record.waitingMs, atMs) && record.waitingMs > atMs) return;
  record.waiting = waiting;
  record.waitingMs = atMs;
}

/** The worst of the last five seconds: 1 + thousandths; 0 = unknown. */
export function worstKvCacheUse(record: LoadRecord, now: u64): u32 {
  let worst: u64 = 0;
  for (let i: u64 = 0; i < SLOTS; i++) {
    const slot = slotAt(record, i);
    if (isFresh(slot.atMs, now)) worst = max(worst, slot.kvCacheUse);
  }
  return <u32>worst;
}

/** The worst of the last five seconds, else the latest of the last minute: 1 + thousandths; 0 = unknown. */
export function standingKvCacheUse(record: LoadRecord, now: u64): u32 {
  const worst = worstKvCacheUse(record, now);
  if (worst > 0) return worst;
  let latestMs: u64 = 0;
  let latest: u64 = 0;
  for (let i: u64 = 0; i < SLOTS; i++) {
    const slot = slotAt(record, i);
    const stands = slot.kvCacheUse > 0 && slot.atMs <= now && now - slot.atMs < LOAD_STANDS_MS;
    if (!stands || slot.atMs < latestMs) continue;
    latestMs = slot.atMs;
    latest = slot.kvCacheUse;
  }
  return <u32>latest;
}

/** 1 + requests that wait; 0 = unknown. */
export function freshWaiting(record: LoadRecord, now: u64): u32 {
  return isFresh(record.waitingMs, now) ? record.waiting : 0;
}

/** How long ago the latest of both figures was told. */
export function loadAgeMs(record: LoadRecord, now: u64): u64 {
  let latest = record.waiting > 0 ? record.waitingMs : 0;
  for (let i: u64 = 0; i < SLOTS; i++) {
    const slot = slotAt(record, i);
    if (slot.kvCacheUse > 0) latest = max(latest, slot.atMs);
  }
  return now > latest ? now - latest : 0;
}

/** Not too old; nor from before the clock went back. */
function isFresh(atMs: u64, now: u64): bool {
  return now < atMs + LOAD_FRESH_MS && atMs < now + LOAD_FRESH_MS;
}

function slotAt(record: LoadRecord, index: u64): LoadSlot {
  const first = changetype<usize>(record) + offsetof<LoadRecord>();
  return changetype<LoadSlot>(first + <usize>index * offsetof<LoadSlot>());
}
