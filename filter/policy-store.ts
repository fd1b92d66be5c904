// The texts of the last few policies of this process, in shared data: a push reaches the workers one by one, and requests outlive
// it, so a worker may meet a request that was admitted under a policy it has never been given.
import { allocate } from "./host/arena";
import { resultPtr, resultSize } from "./host/result";
import { MAX_TRIES, readShared, replaceShared, writeShared } from "./host/shared-data";
import { Text } from "./host/text";

const PREFIX = "llm.breaker/policy/";
/** Apart from the above: a policy may be named like another one with a number behind it. */
const TEXT_PREFIX = "llm.breaker/policy-text/";
const KEPT_TEXTS: u32 = 8;
const HASH_SIZE: i32 = 8;

/** What the process goes by now. */
@unmanaged
class Present {
  hash: u64;
  /** Policies published so far; the last one's text is in place `count % KEPT_TEXTS`. */
  count: u64;
}

export function presentKey(name: string): Text {
  return Text.of(PREFIX + name);
}

/** The version of the policy that the process goes by, or 0. */
export function presentHash(key: Text): u64 {
  const present = readShared(key) ? presentRead() : null;
  return present ? present.hash : 0;
}

/** Makes a text the present policy; of workers that bring the same one at once, the first does. */
export function publishText(name: string, hash: u64, ptr: usize, size: i32): bool {
  const key = presentKey(name);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const isThere = readShared(key);
    const present = isThere ? presentRead() : null;
    if (present && present.hash === hash) return true;
    const count = present ? present.count + 1 : 0;
    if (!writeText(name, count, hash, ptr, size)) return false;
    const next = allocate(offsetof<Present>());
    if (next === 0) return false;
    changetype<Present>(next).hash = hash;
    changetype<Present>(next).count = count;
    // Writing the text has left the version of the value that was read as it was.
    if (replaceShared(key, next, offsetof<Present>(), isThere)) return true;
  }
  return false;
}

/** Reads a policy's text by its version; {@link textPtr} and {@link textSize} tell of it. */
export function readText(name: string, hash: u64): bool {
  for (let i: u32 = 0; i < KEPT_TEXTS; i++) {
    if (readPlace(name, i) && load<u64>(resultPtr()) === hash) return true;
  }
  return false;
}

/** The bytes of the text that was just read. */
export function textPtr(): usize {
  return resultPtr() + HASH_SIZE;
}

export function textSize(): i32 {
  return resultSize() - HASH_SIZE;
}

function readPlace(name: string, place: u32): bool {
  return readShared(placeKey(name, place)) && resultSize() >= HASH_SIZE;
}

function placeKey(name: string, place: u32): Text {
  return Text.of(TEXT_PREFIX + place.toString() + "/" + name);
}

/** What was just read; null when another build of the filter left something else there. */
function presentRead(): Present | null {
  return resultSize() === offsetof<Present>() ? changetype<Present>(resultPtr()) : null;
}

function writeText(name: string, count: u64, hash: u64, ptr: usize, size: i32): bool {
  const value = allocate(HASH_SIZE + size);
  if (value === 0) return false;
  store<u64>(value, hash);
  memory.copy(value + HASH_SIZE, ptr, size);
  return writeShared(placeKey(name, <u32>(count % KEPT_TEXTS)), value, HASH_SIZE + size, 0);
}
