// The bridge between a backend's record in shared data and the pure breaker: read, decide, compare-and-swap, tell.

import { announce } from "./announce";
import * as breaker from "./breaker/breaker";
import { hasClockStepped } from "./breaker/clock";
import { BreakerConfig } from "./breaker/config";
import { isFiling } from "./breaker/mode";
import { Move, onMove } from "./breaker/move";
import { Outcome } from "./breaker/outcome";
import { adaptRecord, BackendRecord, initRecord, isRecordValid, recordSize } from "./breaker/record";
import { restore, Summary } from "./breaker/restore";
import { Cause, State } from "./breaker/state";
import { allocate } from "./host/arena";
import { nowMs, random32 } from "./host/clock";
import { increment } from "./host/metrics";
import { resultPtr, resultSize } from "./host/result";
import { MAX_TRIES, readShared, replaceShared, sharedCas, writeShared } from "./host/shared-data";
import { Backend } from "./policy/policy";
import { tellSteadiness } from "./steady";
import { updateTrend } from "./trends";

let openSize: i32 = 0;
let openCas: u32 = 0;

/**
 * Creates a backend's record where there is none yet; of many workers that start at once one succeeds. One of another window
 * gets this one's. Only whoever brings a policy does that: two policies in use at once (on two listeners, or for the streams that
 * outlive a push) would else empty the window for each other with every call.
 */
export function createRecord(backend: Backend): void {
  const buckets = backend.breaker.slidingWindowSize;
  const size = recordSize(buckets);
  const now = nowMs();
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const isThere = readShared(backend.recordKey);
    if (isThere && resultSize() === size) return;
    const fresh = allocate(size);
    if (fresh === 0) return;
    if (isThere) adaptRecord(resultPtr(), resultSize(), fresh, buckets, now);
    else initRecord(fresh, buckets, now);
    if (replaceShared(backend.recordKey, fresh, size, isThere)) return;
  }
}

/** A copy of a backend's record in scratch memory; 0 when it can't be had. */
export function readRecord(backend: Backend, now: u64): usize {
  if (!readShared(backend.recordKey)) {
    createRecord(backend);
    if (!readShared(backend.recordKey)) return 0;
  }
  openCas = sharedCas();
  openSize = resultSize();
  const ptr = resultPtr();
  if (isRecordValid(ptr, openSize)) return ptr;
  openSize = recordSize(backend.breaker.slidingWindowSize);
  const adapted = allocate(openSize);
  if (adapted === 0) return 0;
  adaptRecord(ptr, resultSize(), adapted, backend.breaker.slidingWindowSize, now);
  return adapted;
}

/** Writes back what {@link readRecord} gave; false when another worker was faster. */
export function commit(backend: Backend, ptr: usize): bool {
  if (!writeShared(backend.recordKey, ptr, openSize, openCas)) return false;
  tellSteadiness(backend, changetype<BackendRecord>(ptr));
  return true;
}

/**
 * Files an attempt's outcome and frees its permit. Returns the verdict, 0 also when the update was lost.
 * @param weight hundredths of a failure
 * @param retryAfterMs what a backpressure asked for; 0 = nothing
 */
export function fileOutcome(
  backend: Backend,
  now: u64,
  generation: u32,
  permit: u32,
  outcome: i32,
  weight: u32,
  retryAfterMs: u32,
): i32 {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ptr = readRecord(backend, now);
    if (ptr === 0) break;
    const record = changetype<BackendRecord>(ptr);
    const from = record.state;
    const verdict = breaker.onOutcome(
      record,
      backend.breaker,
      now,
      generation,
      permit,
      outcome,
      weight,
      retryAfterMs,
      random32(),
    );
    // A late or neutral end without a permit moved nothing but the record's clock; a late Retry-After may have.
    const isLate = (verdict & breaker.VERDICT_LATE) !== 0;
    const isIdle = permit === 0 && retryAfterMs === 0 && (isLate || outcome === Outcome.NEUTRAL);
    if (!isIdle && !commit(backend, ptr)) continue;
    announce(backend, from, record, verdict, now);
    return verdict;
  }
  increment(backend.metrics.lostUpdates);
  return 0;
}

/** Takes a half-open permit for a caller's request: its id, or 0. Its generation is in {@link grantedGeneration}. */
export function acquireCanary(backend: Backend, now: u64): u32 {
  return acquirePermit(backend, now, breaker.tryAcquireCanary);
}

/** The same for a probe of ours, when no caller's request has been a canary for long. */
export function acquireIdleCanary(backend: Backend, now: u64): u32 {
  return acquirePermit(backend, now, breaker.tryAcquireIdleCanary);
}

function acquirePermit(
  backend: Backend,
  now: u64,
  take: (record: BackendRecord, config: BreakerConfig, now: u64) => u32,
): u32 {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ptr = readRecord(backend, now);
    if (ptr === 0) break;
    const record = changetype<BackendRecord>(ptr);
    const permit = take(record, backend.breaker, now);
    if (permit === 0) return 0;
    if (!commit(backend, ptr)) continue;
    granted = record.generation;
    increment(backend.metrics.canaries);
    return permit;
  }
  increment(backend.metrics.lostUpdates);
  return 0;
}

let granted: u32 = 0;

export function grantedGeneration(): u32 {
  return granted;
}

/** Frees a permit whichever end of the request comes first; the second call finds nothing and does nothing. */
export function releasePermit(backend: Backend, now: u64, permit: u32): void {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ptr = readRecord(backend, now);
    if (ptr === 0 || !breaker.releasePermit(changetype<BackendRecord>(ptr), permit)) return;
    if (commit(backend, ptr)) return;
  }
}

export function renewPermit(backend: Backend, now: u64, permit: u32): void {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ptr = readRecord(backend, now);
    if (ptr === 0) return;
    if (!breaker.renewPermit(changetype<BackendRecord>(ptr), backend.breaker, permit, now)) return;
    if (commit(backend, ptr)) return;
  }
}

/** Takes the lease of a backend's probe; of all workers one wins. */
export function acquireProbe(backend: Backend, now: u64, owner: u64): bool {
  const ptr = readRecord(backend, now);
  if (ptr === 0) return false;
  const record = changetype<BackendRecord>(ptr);
  const from = record.state;
  // A clock that went back is told to the record by whoever asks, or every asker would meet the old deadlines again.
  const isMended = hasClockStepped(record, now);
  const isOurs = breaker.tryAcquireProbe(record, backend.breaker, now, owner);
  if (!isOurs && !isMended) return false;
  if (!commit(backend, ptr) || !isOurs) return false;
  announce(backend, from, record, Cause.WAIT_OVER, now);
  return true;
}

export function fileProbe(backend: Backend, now: u64, owner: u64, success: bool): void {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ptr = readRecord(backend, now);
    if (ptr === 0) return;
    const record = changetype<BackendRecord>(ptr);
    const from = record.state;
    const verdict = breaker.onProbeOutcome(record, backend.breaker, now, owner, success, random32());
    if (!commit(backend, ptr)) continue;
    announce(backend, from, record, verdict, now);
    return;
  }
}

/** Gives a probe's lease back without a verdict: it was never sent. */
export function abandonProbe(backend: Backend, now: u64, owner: u64): void {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ptr = readRecord(backend, now);
    if (ptr === 0) return;
    const record = changetype<BackendRecord>(ptr);
    const from = record.state;
    const verdict = breaker.abandonProbe(record, backend.breaker, now, owner);
    if (!commit(backend, ptr)) continue;
    announce(backend, from, record, verdict, now);
    return;
  }
}

/** Files what this VM has seen of a backend's first tokens and costs since the last tick. */
export function fileFacts(backend: Backend, now: u64): void {
  const facts = backend.facts;
  const isWatched = facts.calls + facts.slowCalls + facts.samples > 0 && fileFirstTokens(backend, now);
  const cause = updateTrend(backend, now, isWatched);
  if (cause !== Cause.NONE) fileTrend(backend, now, cause);
}

/** False when the calls are of an earlier generation, have just opened the backend, or are not to be filed at all. */
function fileFirstTokens(backend: Backend, now: u64): bool {
  const facts = backend.facts;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ptr = readRecord(backend, now);
    if (ptr === 0) break;
    const record = changetype<BackendRecord>(ptr);
    const from = record.state;
    const verdict = breaker.onFirstTokens(
      record,
      backend.breaker,
      now,
      facts.generation,
      facts.calls,
      facts.slowCalls,
      facts.slowInARow,
      random32(),
    );
    if ((verdict & breaker.VERDICT_LATE) !== 0) return false;
    if (!commit(backend, ptr)) continue;
    announce(backend, from, record, verdict, now);
    return verdict === Cause.NONE && from === State.CLOSED && isFiling(backend.breaker.mode);
  }
  increment(backend.metrics.lostUpdates);
  return false;
}

function fileTrend(backend: Backend, now: u64, cause: i32): void {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ptr = readRecord(backend, now);
    if (ptr === 0) return;
    const record = changetype<BackendRecord>(ptr);
    const from = record.state;
    const verdict = breaker.onTrend(record, backend.breaker, now, cause, random32());
    if (verdict === Cause.NONE) return;
    if (!commit(backend, ptr)) continue;
    announce(backend, from, record, verdict, now);
    return;
  }
}

/** Moves a backend by a word from outside; what has changed since the word was made stays. */
export function applyMove(backend: Backend, now: u64, move: Move): void {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ptr = readRecord(backend, now);
    if (ptr === 0) return;
    const record = changetype<BackendRecord>(ptr);
    const from = record.state;
    const verdict = onMove(record, backend.breaker, now, move);
    // Too late for its generation is no outcome that came late: nothing is counted.
    if ((verdict & breaker.VERDICT_LATE) !== 0) return;
    if (!commit(backend, ptr)) continue;
    announce(backend, from, record, verdict, now);
    return;
  }
}

/** Takes up what the process before this one knew of a backend. */
export function restoreBackend(backend: Backend, now: u64, summary: Summary): void {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ptr = readRecord(backend, now);
    if (ptr === 0) return;
    const record = changetype<BackendRecord>(ptr);
    const verdict = restore(record, backend.breaker, now, summary);
    if (verdict === Cause.NONE) return;
    if (!commit(backend, ptr)) continue;
    announce(backend, State.CLOSED, record, verdict, now);
    return;
  }
}

/** Closes a ramp that has passed, and is no longer held; each tick asks, and mostly there is nothing to write. */
export function closeIfReady(backend: Backend, now: u64): void {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ptr = readRecord(backend, now);
    if (ptr === 0) return;
    const record = changetype<BackendRecord>(ptr);
    const verdict = breaker.tryClose(record, backend.breaker, now);
    if (verdict === Cause.NONE) return;
    if (!commit(backend, ptr)) continue;
    announce(backend, State.HALF_OPEN, record, verdict, now);
    return;
  }
}
