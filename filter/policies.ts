// Where a VM finds the policy a request was admitted under. The gate publishes it; the other positions, which may live in
// other VMs, read it once a version and keep the last few, since requests outlive a push.
import { defineMetrics } from "./announce";
import { allocate } from "./host/arena";
import { Level, log, noteGarbage } from "./host/log";
import { resultPtr, resultSize } from "./host/result";
import { readShared, writeShared } from "./host/shared-data";
import { Text } from "./host/text";
import { parsePolicy } from "./policy/parse-policy";
import { Policy } from "./policy/policy";
import { createRecord } from "./records";

const KEPT: i32 = 4;
const HASH_SIZE: i32 = 8;
const known: Policy[] = [];

/** FNV-1a: a policy's version is the hash of its text, so that validating it in many VMs counts nothing up. */
function hashOf(ptr: usize, size: i32): u64 {
  let hash: u64 = 0xcbf29ce484222325;
  for (let i = 0; i < size; i++) hash = (hash ^ load<u8>(ptr + i)) * 0x100000001b3;
  return hash;
}

export function policyKey(name: string): Text {
  return Text.of("llm.breaker/policy/" + name);
}

/**
 * Checks the gate's configuration and makes it the policy of the process. On a fault one message names every field,
 * nothing is written and null is returned: the old policy goes on.
 */
export function publishPolicy(ptr: usize, size: i32): Policy | null {
  const hash = hashOf(ptr, size);
  const errors: string[] = [];
  const policy = parsePolicy(String.UTF8.decodeUnsafe(ptr, size), hash, errors);
  noteGarbage();
  if (!policy) {
    log(Level.CRITICAL, "llm.breaker: the policy is refused, nothing changed: " + errors.join("; "));
    return null;
  }
  remember(policy);
  for (let i = 0; i < policy.backends.length; i++) createRecord(policy.backends[i]);
  const key = policyKey(policy.name);
  if (readShared(key) && resultSize() >= HASH_SIZE && load<u64>(resultPtr()) === hash) return policy;
  const value = allocate(HASH_SIZE + size);
  if (value === 0) return null;
  store<u64>(value, hash);
  memory.copy(value + HASH_SIZE, ptr, size);
  writeShared(key, value, HASH_SIZE + size, 0);
  return policy;
}

/** The policy with this version, or null when it is neither known here nor the process's present one. */
export function findPolicy(hash: u64, name: usize, nameLength: i32): Policy | null {
  for (let i = known.length - 1; i >= 0; i--) {
    if (unchecked(known[i]).hash === hash) return unchecked(known[i]);
  }
  return learn(hash, name, nameLength);
}

/** Whether `policy` is still what the process goes by: a root with an older one is to fall silent. */
export function isCurrent(policy: Policy, key: Text): bool {
  return readShared(key) && resultSize() >= HASH_SIZE && load<u64>(resultPtr()) === policy.hash;
}

function learn(hash: u64, name: usize, nameLength: i32): Policy | null {
  if (!readShared(policyKey(String.UTF8.decodeUnsafe(name, nameLength)))) return null;
  const ptr = resultPtr();
  const size = resultSize();
  noteGarbage();
  if (size < HASH_SIZE || load<u64>(ptr) !== hash) return null;
  const text = String.UTF8.decodeUnsafe(ptr + HASH_SIZE, size - HASH_SIZE);
  const policy = parsePolicy(text, hash, []);
  if (policy) remember(policy);
  return policy;
}

function remember(policy: Policy): void {
  for (let i = 0; i < known.length; i++) {
    if (known[i].hash === policy.hash) known.splice(i--, 1);
  }
  for (let i = 0; i < policy.backends.length; i++) defineMetrics(policy.backends[i]);
  known.push(policy);
  for (let i = 0; i < known.length && known.length > KEPT; i++) {
    if (known[i].uses === 0) known.splice(i--, 1);
  }
}
