// Each attempt starts from the caller's own request: what an earlier one set, and whose keys it carried, is gone.
import {
  addHeader,
  addHeaderAt,
  HeaderMap,
  Pairs,
  removeHeader,
  removeHeaderAt,
  setHeader,
  setHeaderAt,
} from "../host/headers";
import { finishPairs, pairsSize, putBytes, startPairs } from "../host/pairs-writer";
import { readProperty, writeFilterState } from "../host/properties";
import { resultPtr, resultSize } from "../host/result";
import { Text } from "../host/text";
import * as names from "../names";
import { isSecret, SECRETS } from "../secrets";

/** Single headers that an attempt may change, each restored or removed before the next one. `:path` always is there. */
const RESTORED: Text[] = [
  names.PATH,
  names.AUTHORITY,
  names.CONTENT_LENGTH,
  names.CONTENT_ENCODING,
  names.LOAD_FORMAT,
];

const pairs: Pairs = new Pairs();
const originals: Pairs = new Pairs();
const sent: Pairs = new Pairs();

/** Undoes what earlier attempts (ours, an injector's, a rewrite's) changed: Envoy keeps it over retries (traps.md 6). */
export function restoreOriginal(): void {
  removeAdded();
  // It is said of one attempt's body.
  removeHeader(HeaderMap.REQUEST, names.HEADER_REWRITTEN);
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
 * @param hasNext another attempt may follow: what the backend's filters add or change from here on is theirs alone
 */
export function removeCredentials(hasNext: bool): void {
  if (!pairs.readHeaders(HeaderMap.REQUEST)) return;
  if (hasNext) startPairs();
  while (pairs.next()) {
    if (isSecret(pairs.name, pairs.nameLength)) {
      removeHeaderAt(HeaderMap.REQUEST, pairs.name, pairs.nameLength);
    } else if (hasNext && isPlain(pairs)) {
      putBytes(pairs.name, pairs.nameLength, pairs.value, pairs.valueLength);
    }
  }
  if (!hasNext) return;
  const before = finishPairs();
  if (before !== 0) writeFilterState(names.STATE_BEFORE, before, pairsSize());
}

/** Undoes what the filters of an earlier attempt's backend did: its key is gone, whatever header carries it. */
function removeAdded(): void {
  if (!readProperty(names.STATE_BEFORE)) return;
  const ptr = resultPtr();
  const size = resultSize();
  if (!pairs.readHeaders(HeaderMap.REQUEST)) return;
  while (pairs.next()) {
    if (!isPlain(pairs) || wasSent(ptr, size)) continue;
    removeHeaderAt(HeaderMap.REQUEST, pairs.name, pairs.nameLength);
    // Their value may stand in a header that the caller sent too.
    sent.open(ptr, size);
    while (sent.next()) {
      if (!isSameName()) continue;
      addHeaderAt(HeaderMap.REQUEST, sent.name, sent.nameLength, sent.value, sent.valueLength);
    }
  }
}

/** Not what every attempt, or Envoy itself, sets anew. */
function isPlain(header: Pairs): bool {
  const length = header.nameLength;
  if (length === 0 || load<u8>(header.name) === 0x3a || names.ENVOY_PREFIX.isPrefixOf(header.name, length))
    return false;
  for (let i = 0; i < RESTORED.length; i++) {
    if (unchecked(RESTORED[i]).equals(header.name, length)) return false;
  }
  return true;
}

/** Whether the present header of {@link pairs} is as it was. */
function wasSent(ptr: usize, size: i32): bool {
  sent.open(ptr, size);
  while (sent.next()) {
    if (!isSameName() || sent.valueLength !== pairs.valueLength) continue;
    if (memory.compare(sent.value, pairs.value, sent.valueLength) === 0) return true;
  }
  return false;
}

function isSameName(): bool {
  return sent.nameLength === pairs.nameLength && memory.compare(sent.name, pairs.name, sent.nameLength) === 0;
}
