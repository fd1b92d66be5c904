// The path a backend is asked at, made of the caller's and of what the backend's cluster says. Pure; the caller of this
// module gives the room.

import { startsWith } from "./text";

const VERSION = "/v1";
const SLASH: u8 = 0x2f;
const QUESTION: u8 = 0x3f;

/** What a cluster asks of the path. A length below 0: not asked. Bytes belong to whoever fills it. */
@final
export class PathRule {
  /** In place of the whole path, query included. */
  path: usize = 0;
  pathLength: i32 = -1;
  /** In place of a leading `/v1`. */
  prefix: usize = 0;
  prefixLength: i32 = -1;
  /** In place of any query; an empty one means none. */
  query: usize = 0;
  queryLength: i32 = -1;
  /** The caller's query goes no further: it may hold a key. */
  dropsQuery: bool = false;

  clear(): void {
    this.pathLength = -1;
    this.prefixLength = -1;
    this.queryLength = -1;
    this.dropsQuery = false;
  }

  /** Whether the path must be written anew, and not only be replaced or left alone. */
  get isComposed(): bool {
    if (this.queryLength >= 0) return true;
    return this.pathLength < 0 && (this.prefixLength >= 0 || this.dropsQuery);
  }
}

/** Bytes that {@link writePath} may write at most. */
export function pathRoom(rule: PathRule, callerLength: i32): i32 {
  const head = max(rule.pathLength, 0) + max(rule.prefixLength, 0) + max(rule.queryLength, 0);
  return callerLength + head + 2;
}

/** Writes the composed path to `to` and returns its length: O(length), no byte beyond {@link pathRoom}. */
export function writePath(to: usize, rule: PathRule, caller: usize, callerLength: i32): i32 {
  const isReplaced = rule.pathLength >= 0;
  const base = isReplaced ? rule.path : caller;
  const baseLength = isReplaced ? rule.pathLength : callerLength;
  const pathEnd = lengthBeforeQuery(base, baseLength);
  let at = to;
  if (isReplaced) at = copy(at, base, pathEnd);
  else at = writePrefixed(at, rule, base, pathEnd);
  if (at === to) store<u8>(at++, SLASH);
  if (rule.queryLength >= 0) at = writeQuery(at, rule.query, rule.queryLength);
  else if (isReplaced || !rule.dropsQuery) at = copy(at, base + pathEnd, baseLength - pathEnd);
  return <i32>(at - to);
}

/** Bytes of a path before its query. */
export function lengthBeforeQuery(ptr: usize, length: i32): i32 {
  for (let i = 0; i < length; i++) {
    if (load<u8>(ptr + i) === QUESTION) return i;
  }
  return length;
}

/** A path that does not begin with the version is not in the shape that the prefix stands for, and stays. */
function writePrefixed(to: usize, rule: PathRule, base: usize, length: i32): usize {
  if (rule.prefixLength < 0 || !hasVersion(base, length)) return copy(to, base, length);
  const end = rule.prefixLength - 1;
  const hasSlash = end >= 0 && load<u8>(rule.prefix + end) === SLASH;
  const at = copy(to, rule.prefix, hasSlash ? end : rule.prefixLength);
  return copy(at, base + VERSION.length, length - VERSION.length);
}

function hasVersion(ptr: usize, length: i32): bool {
  if (!startsWith(ptr, length, VERSION)) return false;
  return length === VERSION.length || load<u8>(ptr + VERSION.length) === SLASH;
}

function writeQuery(to: usize, query: usize, length: i32): usize {
  if (length === 0) return to;
  if (load<u8>(query) === QUESTION) return copy(to, query, length === 1 ? 0 : length);
  store<u8>(to, QUESTION);
  return copy(to + 1, query, length);
}

function copy(to: usize, from: usize, length: i32): usize {
  memory.copy(to, from, length);
  return to + <usize>length;
}
