// The record's operations as the positions call them, one export each, for the model of test/model: filter/records.ts with its
// read, decision and compare-and-swap, over an imported store. Compiled as the filter is; Envoy never loads it.

import { isCanaryDrawn, permission } from "../../filter/breaker/breaker";
import { Move } from "../../filter/breaker/move";
import {
  BackendRecord,
  Bucket,
  bucketAt,
  HISTORY_SIZE,
  historyAt,
  MAX_PERMITS,
  Permit,
  permitAt,
  Transition,
} from "../../filter/breaker/record";
import { allocate, mark, release } from "../../filter/host/arena";
import { nowMs, startDraws } from "../../filter/host/clock";
import { collectGarbage } from "../../filter/host/log";
import { parsePolicy } from "../../filter/policy/parse-policy";
import { Backend } from "../../filter/policy/policy";
import * as records from "../../filter/records";
import * as successes from "../../filter/successes";

const move = new Move();
let backend: Backend = new Backend("none");
let seenGeneration: u32 = 0;

/** The host's room for what it gives, as in the filter. */
export function proxy_on_memory_allocate(size: usize): usize {
  return allocate(size);
}

/** Whether the text, UTF-8, is a policy; its first backend is the one that all else is about. */
export function configure(ptr: usize, size: i32): bool {
  const policy = parsePolicy(String.UTF8.decodeUnsafe(ptr, size), 1, []);
  if (!policy) return false;
  backend = policy.backends[0];
  // The one stat that decides something.
  backend.metrics.steady = 1;
  return true;
}

/** As a VM that has just started: nothing told, nothing gathered, and the draws of this seed. */
export function restart(seed: u32): void {
  startDraws(seed);
  backend.facts.successes = 0;
  backend.facts.successGeneration = 0;
  orders(backend.policyMode, -1, false);
  collectGarbage();
}

/** What the tick sets by the service's directives. */
export function orders(mode: i32, rampShare: i32, isClosingHeld: bool): void {
  backend.breaker.mode = mode;
  backend.breaker.rampShare = rampShare;
  backend.breaker.isClosingHeld = isClosingHeld;
}

export function createRecord(): void {
  const top = mark();
  records.createRecord(backend);
  release(top);
}

/** The gate's look at the record: a `Permission`, and 16 where the request is drawn as a canary. -1: there is none. */
export function look(now: f64, random: u32): i32 {
  const top = mark();
  const ptr = records.readRecord(backend, <u64>now);
  let seen: i32 = -1;
  if (ptr !== 0) {
    const record = changetype<BackendRecord>(ptr);
    seenGeneration = record.generation;
    seen = permission(record, backend.breaker, <u64>now);
    if (isCanaryDrawn(record, backend.breaker, <u64>now, random)) seen |= 16;
  }
  release(top);
  return seen;
}

/** The generation that the last look, or the last permit, belongs to. */
export function generation(): u32 {
  return seenGeneration;
}

export function acquireCanary(now: f64, isIdle: bool): u32 {
  const top = mark();
  const time = <u64>now;
  const permit = isIdle ? records.acquireIdleCanary(backend, time) : records.acquireCanary(backend, time);
  seenGeneration = records.grantedGeneration();
  release(top);
  return permit;
}

export function fileOutcome(
  now: f64,
  generation: u32,
  permit: u32,
  outcome: i32,
  weight: u32,
  retryAfterMs: u32,
): i32 {
  const top = mark();
  const verdict = records.fileOutcome(backend, <u64>now, generation, permit, outcome, weight, retryAfterMs);
  release(top);
  return verdict;
}

/** A success without a permit, which the VM may gather. */
export function noteSuccess(generation: u32): void {
  const top = mark();
  if (!successes.noteSuccess(backend, generation))
    successes.fileAmidFailures(backend, nowMs(), u64.MAX_VALUE);
  release(top);
}

/** As the meter's tick and any other outcome file the successes that the VM has gathered. */
export function flushSuccesses(now: f64): void {
  const top = mark();
  successes.flushSuccesses(backend, <u64>now);
  release(top);
}

/** As the meter's tick files what its VM has gathered of first tokens. */
export function fileFirstTokens(now: f64, generation: u32, calls: u32, slow: u32): void {
  const top = mark();
  backend.facts.generation = generation;
  backend.facts.calls = calls;
  backend.facts.slowCalls = slow;
  backend.facts.slowInARow = slow < calls ? 0 : calls;
  records.fileFacts(backend, <u64>now);
  release(top);
}

export function releasePermit(now: f64, permit: u32): void {
  const top = mark();
  records.releasePermit(backend, <u64>now, permit);
  release(top);
}

export function renewPermit(now: f64, permit: u32): void {
  const top = mark();
  records.renewPermit(backend, <u64>now, permit);
  release(top);
}

export function acquireProbe(now: f64, owner: f64): bool {
  const top = mark();
  const isOurs = records.acquireProbe(backend, <u64>now, <u64>owner);
  release(top);
  return isOurs;
}

export function fileProbe(now: f64, owner: f64, success: bool): void {
  const top = mark();
  records.fileProbe(backend, <u64>now, <u64>owner, success);
  release(top);
}

export function abandonProbe(now: f64, owner: f64): void {
  const top = mark();
  records.abandonProbe(backend, <u64>now, <u64>owner);
  release(top);
}

export function closeIfReady(now: f64): void {
  const top = mark();
  records.closeIfReady(backend, <u64>now);
  release(top);
}

/** A word of the group's or an operator's, made for the generation that is given. */
export function applyMove(
  now: f64,
  version: u32,
  expectedGeneration: u32,
  to: i32,
  stage: i32,
  openings: i32,
  waitMs: u32,
  cause: i32,
  isForAll: bool,
): void {
  move.version = version;
  move.expectedGeneration = expectedGeneration;
  move.to = to;
  move.stage = stage;
  move.openings = openings;
  move.waitMs = waitMs;
  move.cause = cause;
  move.isForAll = isForAll;
  move.isOwn = false;
  const top = mark();
  records.applyMove(backend, <u64>now, move);
  release(top);
}

const LAYOUT_FIELDS: i32 = 64;
const layoutPtr: usize = heap.alloc(LAYOUT_FIELDS * sizeof<u32>());

/** Where the record's fields are, in the order of test/model/record/layout.ts. */
export function layout(): usize {
  const record = changetype<BackendRecord>(0);
  let at = layoutPtr;
  at = put(at, offsetof<BackendRecord>("bucketCount"));
  at = put(at, offsetof<BackendRecord>("clockMs"));
  at = put(at, offsetof<BackendRecord>("stateSinceMs"));
  at = put(at, offsetof<BackendRecord>("openUntilMs"));
  at = put(at, offsetof<BackendRecord>("probeLeaseUntilMs"));
  at = put(at, offsetof<BackendRecord>("probeOwner"));
  at = put(at, offsetof<BackendRecord>("track"));
  at = put(at, offsetof<BackendRecord>("state"));
  at = put(at, offsetof<BackendRecord>("stage"));
  at = put(at, offsetof<BackendRecord>("generation"));
  at = put(at, offsetof<BackendRecord>("openings"));
  at = put(at, offsetof<BackendRecord>("lastCause"));
  at = put(at, offsetof<BackendRecord>("consecutiveFailures"));
  at = put(at, offsetof<BackendRecord>("stageSuccesses"));
  at = put(at, offsetof<BackendRecord>("totalCalls"));
  at = put(at, offsetof<BackendRecord>("totalFailures"));
  at = put(at, offsetof<BackendRecord>("totalBackpressure"));
  at = put(at, offsetof<BackendRecord>("totalOutOfMemory"));
  at = put(at, offsetof<BackendRecord>("totalFirstTokens"));
  at = put(at, offsetof<BackendRecord>("totalSlowCalls"));
  at = put(at, changetype<usize>(permitAt(record, 0)));
  at = put(at, offsetof<Permit>());
  at = put(at, MAX_PERMITS);
  at = put(at, offsetof<Permit>("deadlineMs"));
  at = put(at, offsetof<Permit>("id"));
  at = put(at, changetype<usize>(historyAt(record, 0)));
  at = put(at, offsetof<Transition>());
  at = put(at, HISTORY_SIZE);
  at = put(at, offsetof<Transition>("atMs"));
  at = put(at, offsetof<Transition>("generation"));
  at = put(at, offsetof<Transition>("from"));
  at = put(at, offsetof<Transition>("to"));
  at = put(at, offsetof<Transition>("stage"));
  at = put(at, offsetof<Transition>("cause"));
  at = put(at, changetype<usize>(bucketAt(record, 0)));
  at = put(at, offsetof<Bucket>());
  at = put(at, offsetof<Bucket>("calls"));
  at = put(at, offsetof<Bucket>("failures"));
  at = put(at, offsetof<Bucket>("backpressure"));
  at = put(at, offsetof<Bucket>("outOfMemory"));
  at = put(at, offsetof<Bucket>("firstTokens"));
  put(at, offsetof<Bucket>("slowCalls"));
  return layoutPtr;
}

function put(at: usize, value: usize): usize {
  store<u32>(at, <u32>value);
  return at + sizeof<u32>();
}
