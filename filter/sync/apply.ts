// What was told, as this VM's requests read it: plain fields of its backends, set by every tick. What is over is taken back.
import { isClosingHeld, KvEvidence } from "../breaker/closing-hold";
import { BackendRecord } from "../breaker/record";
import { State } from "../breaker/state";
import { mark, release } from "../host/arena";
import { readLoad, standingUse } from "../loads";
import { eachBackend, whenLearned } from "../policies";
import { Backend } from "../policy/policy";
import { readRecord } from "../records";
import { LOST_AFTER_MS } from "./service";
import { readTold, Told } from "./told";

/** Several roots of a VM tick: once is enough. */
const LEAST_GAP_MS: u64 = 100;
/** A queue moves on, a cache fills: after so long nothing is known of them. */
const SIGNALS_STALE_AFTER_MS: u64 = 5000;

const evidence = new KvEvidence();

let appliedMs: u64 = 0;

// A pushed policy, and one that a worker meets with a request, go by what was told from the start: no tick is waited for.
whenLearned(apply);

/** Called with each tick, of whatever position. */
export function applyDirectives(now: u64): void {
  if (now - appliedMs >= LEAST_GAP_MS) applyNow(now);
}

/** The same at once: there is news. */
export function applyNow(now: u64): void {
  appliedMs = now;
  eachBackend(apply, now);
}

function apply(backend: Backend, now: u64): void {
  const top = mark();
  const told = readTold(backend);
  setMode(backend, told.isForced(now) ? told.mode : backend.policyMode);
  applySignals(backend, told, now);
  applyGroup(backend, told, now);
  if (backend.isRefusedAt(now)) forgetOldRefusal(backend, now);
  release(top);
}

function setMode(backend: Backend, mode: i32): void {
  if (backend.breaker.mode === mode) return;
  backend.breaker.mode = mode;
  backend.refuse(0, 0);
}

function applySignals(backend: Backend, told: Told, now: u64): void {
  const directive = backend.directive;
  const isFresh = told.isFresh !== 0 && now < told.toldMs + SIGNALS_STALE_AFTER_MS;
  directive.waiting = isFresh ? <i32>min<u32>(told.waiting, i32.MAX_VALUE) - 1 : -1;
  directive.isQueueLong = isFresh && told.isQueueLong !== 0;
  evidence.hasSignals = told.hasSignals !== 0 && now < told.toldMs + LOST_AFTER_MS;
  evidence.isFresh = isFresh;
  evidence.isWhole = told.isWhole !== 0;
  evidence.kvCacheUse = told.kvCacheUse;
  readLoad(backend, now);
  evidence.toldKvCacheUse = standingUse;
  backend.breaker.isClosingHeld = isClosingHeld(evidence, backend.breaker.kvCacheUseThreshold);
}

function applyGroup(backend: Backend, told: Told, now: u64): void {
  const directive = backend.directive;
  // Cut off for shorter it must not probe by itself, since another may have the lease; for longer it stands alone.
  directive.isGrouped = told.isGrouped !== 0 && now < told.toldMs + LOST_AFTER_MS;
  directive.mayProbeUntilMs = told.mayProbeUntilMs;
  const share = <i32>min<u32>(told.rampShare, i32.MAX_VALUE);
  backend.breaker.rampShare = directive.isGrouped ? share : -1;
}

/** An opening ends by its probe, or by a word from outside: then what this VM knows of its wait no longer holds. */
function forgetOldRefusal(backend: Backend, now: u64): void {
  const ptr = readRecord(backend, now);
  if (ptr === 0) return;
  const record = changetype<BackendRecord>(ptr);
  if (record.state !== State.OPEN || record.openUntilMs < backend.refusedUntilMs) backend.refuse(0, 0);
}
