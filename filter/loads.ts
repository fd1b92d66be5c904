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
  standingKvCacheUse,
  worstKvCacheUse,
} from "./breaker/load";
import { allocate, mark, release } from "./host/arena";
import { resultPtr, resultSize } from "./host/result";
import { MAX_TRIES, readShared, replaceShared } from "./host/shared-data";
import { allLoadFacts, LoadFacts } from "./policy/load-facts";
import { Backend } from "./policy/policy";

/** Facts of the last {@link readLoad}. 1 + thousandths of the KV cache in use, the worst of the last 5 s; 0 = unknown. */
export let kvCacheUse: u32 = 0;
/** The same, or without a figure of the last 5 s the latest one, while it stands. */
export let standingUse: u32 = 0;
/** 1 + waiting requests, by the latest answer of the last 5 s; 0 = unknown. */
export let waiting: u32 = 0;
export let ageMs: u64 = 0;

/** Reads what answers told of a backend's engines; false when none of the last 5 s told anything. */
export function readLoad(backend: Backend, now: u64): bool {
  waiting = 0;
  ageMs = 0;
  const facts = backend.load;
  // What this VM has not filed yet counts: a backend that its canary has just found full is not to close before.
  kvCacheUse = facts.kvCacheUse;
  standingUse = kvCacheUse;
  if (readShared(facts.key) && isLoadValid(resultPtr(), resultSize())) {
    const record = changetype<LoadRecord>(resultPtr());
    kvCacheUse = max(kvCacheUse, worstKvCacheUse(record, now));
    standingUse = kvCacheUse > 0 ? kvCacheUse : standingKvCacheUse(record, now);
    waiting = freshWaiting(record, now);
    ageMs = loadAgeMs(record, now);
  }
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
export function flushLoads(): void {
  const all = allLoadFacts();
  for (let i = 0; i < all.length; i++) {
    const facts = unchecked(all[i]);
    if (facts.kvCacheUse === 0 && facts.waiting === 0) continue;
    const top = mark();
    flush(facts);
    release(top);
  }
}

function flush(facts: LoadFacts): void {
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
