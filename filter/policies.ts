// Where a VM finds the policy a request was admitted under. The gate publishes it; the other positions, which may live in
// other VMs, read it once a version and keep the last few, since requests outlive a push.
import { defineChainMetrics, defineMetrics } from "./announce";
import { mark, release } from "./host/arena";
import { nowMs } from "./host/clock";
import { Level, log, noteGarbage } from "./host/log";
import { Text } from "./host/text";
import { parsePolicy } from "./policy/parse-policy";
import { Backend, Policy } from "./policy/policy";
import { presentHash, presentKey, publishText, readText, textPtr, textSize } from "./policy-store";
import { createRecord } from "./records";

type Visit = (backend: Backend, now: u64) => void;

const KEPT: i32 = 4;
const known: Policy[] = [];

/** FNV-1a: a policy's version is the hash of its text, so that validating it in many VMs counts nothing up. */
function hashOf(ptr: usize, size: i32): u64 {
  let hash: u64 = 0xcbf29ce484222325;
  for (let i = 0; i < size; i++) hash = (hash ^ load<u8>(ptr + i)) * 0x100000001b3;
  return hash;
}

/**
 * Checks the gate's configuration and makes it the policy of the process. On a fault one message names every field,
 * nothing is written and null is returned: the old policy goes on.
 */
export function publishPolicy(ptr: usize, size: i32): Policy | null {
  const hash = hashOf(ptr, size);
  const errors: string[] = [];
  let policy = findKnown(hash);
  if (!policy) policy = parsePolicy(String.UTF8.decodeUnsafe(ptr, size), hash, errors);
  noteGarbage();
  if (!policy) {
    log(Level.CRITICAL, "llm.breaker: the policy is refused, nothing changed: " + errors.join("; "));
    return null;
  }
  remember(policy);
  for (let i = 0; i < policy.backends.length; i++) {
    const top = mark();
    createRecord(policy.backends[i]);
    release(top);
  }
  if (publishText(policy.name, hash, ptr, size)) return policy;
  log(Level.CRITICAL, "llm.breaker: the policy could not be published, nothing changed: it is too large");
  return null;
}

/**
 * The policy with this version. When its text is gone, the process's present one of that name: an attempt that is watched by
 * newer rules fares better than one that nobody watches. Null when there is none at all.
 */
export function findPolicy(hash: u64, name: usize, nameLength: i32): Policy | null {
  const found = findKnown(hash);
  if (found) return found;
  const nameText = String.UTF8.decodeUnsafe(name, nameLength);
  noteGarbage();
  const exact = learn(hash, nameText);
  if (exact) return exact;
  const present = presentHash(presentKey(nameText));
  if (present === 0) return null;
  const newest = findKnown(present);
  return newest ? newest : learn(present, nameText);
}

/** Whether `policy` is still what the process goes by: a root with an older one is to fall silent. */
export function isCurrent(policy: Policy, key: Text): bool {
  return presentHash(key) === policy.hash;
}

/** Calls `visit` for every backend of every policy that is known here. */
export function eachBackend(visit: Visit, now: u64): void {
  for (let i = 0; i < known.length; i++) {
    const backends = unchecked(known[i]).backends;
    for (let j = 0; j < backends.length; j++) visit(unchecked(backends[j]), now);
  }
}

function findKnown(hash: u64): Policy | null {
  for (let i = known.length - 1; i >= 0; i--) {
    if (unchecked(known[i]).hash === hash) return unchecked(known[i]);
  }
  return null;
}

function learn(hash: u64, name: string): Policy | null {
  if (!readText(name, hash)) return null;
  const policy = parsePolicy(String.UTF8.decodeUnsafe(textPtr(), textSize()), hash, []);
  if (policy) remember(policy);
  return policy;
}

/** Calls `visit` for every backend that this VM gets to know from now on, before its first request. */
export function whenLearned(visit: Visit): void {
  onLearned = visit;
}

let onLearned: Visit = (_backend: Backend, _now: u64): void => {};

function welcome(backend: Backend): void {
  defineMetrics(backend);
  onLearned(backend, nowMs());
}

/** Keeps the newest policies, and every one that a live attempt points into. */
function remember(policy: Policy): void {
  const at = known.indexOf(policy);
  if (at >= 0) known.splice(at, 1);
  else {
    for (let i = 0; i < policy.backends.length; i++) welcome(policy.backends[i]);
    for (let i = 0; i < policy.chains.length; i++) defineChainMetrics(policy.chains[i]);
  }
  known.push(policy);
  for (let i = 0; i < known.length - 1 && known.length > KEPT; i++) {
    if (known[i].uses === 0) known.splice(i--, 1);
  }
}
