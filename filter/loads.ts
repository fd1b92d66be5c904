// The load that engines tell in their answers' headers: gathered in this VM, filed with the tick, read by all.

import { Mode } from "./breaker/config";
import {
  fileKvCacheUse,
  fileWaiting,
  freshWaiting,
  initLoad,
  isLoadValid,
  LOAD_SIZE,
  LoadRecord,
  loadAgeMs,
  worstKvCacheUse,
} from "./breaker/load";
import { allocate, mark, release } from "./host/arena";
import { resultPtr, resultSize } from "./host/result";
import { MAX_TRIES, readShared, replaceShared } from "./host/shared-data";
import { Backend } from "./policy/policy";

/** Facts of the last {@link readLoad}. 1 + thousandths of the KV cache in use, the worst of the last 5 s; 0 = unknown. */
export let kvCacheUse: u32 = 0;
/** 1 + waiting requests, by the latest answer of the last 5 s; 0 = unknown. */
export let waiting: u32 = 0;
export let ageMs: u64 = 0;

/** Reads what answers told of a backend's engines; false when none of the last 5 s told anything. */
export function readLoad(backend: Backend, now: u64): bool {
  kvCacheUse = 0;
  waiting = 0;
  ageMs = 0;
  if (!readShared(backend.load.key) || !isLoadValid(resultPtr(), resultSize())) return false;
  const record = changetype<LoadRecord>(resultPtr());
  kvCacheUse = worstKvCacheUse(record, now);
  waiting = freshWaiting(record, now);
  ageMs = loadAgeMs(record, now);
  return kvCacheUse > 0 || waiting > 0;
}

/** Whether those who can wait are to pass the backend over. Called with each tick of every VM, after the service's word was taken in. */
export function refreshShedding(backend: Backend, now: u64): void {
  if (backend.shedAboveQueueDepth === 0) return;
  // The service sees the longest queue of all engines, an answer only that of its own.
  let depth = backend.directive.waiting;
  const top = mark();
  if (depth < 0 && readLoad(backend, now)) depth = <i32>waiting - 1;
  release(top);
  const mode = backend.breaker.mode;
  backend.isShedding = depth > backend.shedAboveQueueDepth && (mode === Mode.ENFORCE || mode === Mode.SHADOW);
}

/** Hands this VM's facts to all workers. Called with each tick of a meter. */
export function flushLoad(backend: Backend): void {
  const facts = backend.load;
  if (facts.kvCacheUse === 0 && facts.waiting === 0) return;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const isThere = readShared(facts.key);
    const isWhole = isThere && isLoadValid(resultPtr(), resultSize());
    const at = isWhole ? resultPtr() : allocate(LOAD_SIZE);
    if (at === 0) return;
    if (!isWhole) initLoad(at);
    const record = changetype<LoadRecord>(at);
    if (facts.kvCacheUse > 0) fileKvCacheUse(record, facts.kvCacheUse, facts.kvCacheUseMs);
    if (facts.waiting > 0) fileWaiting(record, facts.waiting, facts.waitingMs);
    if (replaceShared(facts.key, at, LOAD_SIZE, isThere)) break;
  }
  facts.kvCacheUse = 0;
  facts.waiting = 0;
}
