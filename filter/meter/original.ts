// Each attempt starts from the caller's own request: what an earlier one set, and whose keys it carried, is gone.
import { allocate } from "../host/arena";
import {
  addHeader,
  HeaderMap,
  Pairs,
  removeHeader,
  removeHeaderAt,
  setHeader,
  setHeaderAt,
} from "../host/headers";
import { readProperty, writeFilterState } from "../host/properties";
import { resultPtr, resultSize } from "../host/result";
import { Text } from "../host/text";
import * as names from "../names";
import { isSecret, SECRETS } from "../secrets";

/** Single headers that an attempt may change, each restored or removed before the next one. `:path` always is there. */
const RESTORED: Text[] = [names.PATH, names.AUTHORITY, names.CONTENT_LENGTH, names.CONTENT_ENCODING];
/** More headers than these are not told apart; Envoy allows 100. */
const MAX_NAMES: i32 = 512;

const pairs: Pairs = new Pairs();
const originals: Pairs = new Pairs();

/** Undoes what earlier attempts (ours, an injector's, a rewrite's) changed: Envoy keeps it over retries (traps.md 6). */
export function restoreOriginal(): void {
  removeAdded();
  if (!readProperty(names.STATE_ORIGINAL)) return;
  const ptr = resultPtr();
  const size = resultSize();
  removeHeader(HeaderMap.REQUEST, names.COOKIE);
  restore(RESTORED, ptr, size);
  restore(SECRETS, ptr, size);
  originals.open(ptr, size);
  while (originals.next()) {
    const length = originals.nameLength;
    if (names.COOKIE.equals(originals.name, length)) {
      addHeader(HeaderMap.REQUEST, names.COOKIE, originals.value, originals.valueLength);
    } else if (names.OPENAI_PREFIX.isPrefixOf(originals.name, length)) {
      setHeaderAt(HeaderMap.REQUEST, originals.name, length, originals.value, originals.valueLength);
    }
  }
}

function restore(headers: Text[], ptr: usize, size: i32): void {
  for (let i = 0; i < headers.length; i++) {
    const name = unchecked(headers[i]);
    originals.open(ptr, size);
    let isFound = false;
    while (!isFound && originals.next()) isFound = name.equals(originals.name, originals.nameLength);
    if (isFound) setHeader(HeaderMap.REQUEST, name, originals.value, originals.valueLength);
    else removeHeader(HeaderMap.REQUEST, name);
  }
}

/**
 * Takes the caller's keys out of a request to a backend that has its own.
 * @param hasNext another attempt may follow: what the backend's filters add from here on is theirs alone
 */
export function removeCredentials(hasNext: bool): void {
  if (!pairs.readHeaders(HeaderMap.REQUEST)) return;
  const known = hasNext ? allocate(MAX_NAMES * 4) : 0;
  let count = 0;
  while (pairs.next()) {
    if (known !== 0 && count < MAX_NAMES)
      store<u32>(known + count++ * 4, hashOf(pairs.name, pairs.nameLength));
    if (isSecret(pairs.name, pairs.nameLength)) {
      removeHeaderAt(HeaderMap.REQUEST, pairs.name, pairs.nameLength);
    }
  }
  if (known !== 0) writeFilterState(names.STATE_BEFORE, known, count * 4);
}

/** Removes the headers that the filters of an earlier attempt's backend added: its key, whatever header carries it. */
function removeAdded(): void {
  if (!readProperty(names.STATE_BEFORE)) return;
  const known = resultPtr();
  const size = resultSize();
  if (!pairs.readHeaders(HeaderMap.REQUEST)) return;
  while (pairs.next()) {
    if (!isKnown(known, size, hashOf(pairs.name, pairs.nameLength))) {
      removeHeaderAt(HeaderMap.REQUEST, pairs.name, pairs.nameLength);
    }
  }
}

function isKnown(known: usize, size: i32, hash: u32): bool {
  for (let at = 0; at + 4 <= size; at += 4) {
    if (load<u32>(known + at) === hash) return true;
  }
  return false;
}

/** FNV-1a of a header's name. */
function hashOf(ptr: usize, length: i32): u32 {
  let hash: u32 = 0x811c9dc5;
  for (let i = 0; i < length; i++) hash = (hash ^ load<u8>(ptr + i)) * 0x01000193;
  return hash;
}
