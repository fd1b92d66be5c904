// The last look before a rewritten tier, right after the service: a body that was not fitted to the backend never gets there,
// and neither does what it was asked. Envoy retries nothing that a filter answers, so the attempt goes on without the caller's
// body and path, and the meter takes whatever comes back for the next tier's turn (docs/decisions/0015).

import { allocate } from "./host/arena";
import { Buffer, dropBuffer } from "./host/buffers";
import { Slot, SlotPool } from "./host/contexts";
import { HeaderMap, Pairs, readHeader, removeHeader, removeHeaderAt, setHeader } from "./host/headers";
import { writeFilterState } from "./host/properties";
import { Action } from "./host/stream";
import { Text } from "./host/text";
import { asked, readCluster } from "./meter/cluster";
import * as names from "./names";
import { replyNotRewritten } from "./reply";
import { loadRequest, REQUEST_SIZE, RequestRecord } from "./request-record";
import { isSecret } from "./secrets";
import { removeRequestTrailers } from "./trailers";

/** What a backend reads instead: it has no such path, and does no work for it. */
const PATH = Text.of("/llm-breaker-not-rewritten");
const ZERO = Text.of("0");

const pairs: Pairs = new Pairs();

@unmanaged
export class GuardSlot extends Slot {
  isDiverted: bool;
}

export const guardSlots: SlotPool = new SlotPool((<i32>offsetof<GuardSlot>() + 15) & ~15);

/**
 * O(1) for a request with the service's mark. One without a body has none and passes; but not to a backend that speaks another
 * dialect, or has a key of its own: it would ask, or delete, who knows what there with the operator's key.
 */
export function onRequestHeaders(slot: GuardSlot, isEnd: bool): Action {
  if (readHeader(HeaderMap.REQUEST, names.HEADER_REWRITTEN)) {
    removeHeader(HeaderMap.REQUEST, names.HEADER_REWRITTEN);
    return Action.CONTINUE;
  }
  if (isEnd) {
    readCluster(null);
    if (!asked.isTranslated && !asked.hasOwnCredentials) return Action.CONTINUE;
  }
  if (!divert()) {
    // A probe, or a request that no gate has seen: nobody would try it elsewhere.
    replyNotRewritten();
    return Action.PAUSE;
  }
  slot.isDiverted = true;
  return Action.CONTINUE;
}

/** That an answer was translated is the service's to say, and never the backend's. */
export function onResponseHeaders(): void {
  removeHeader(HeaderMap.RESPONSE, names.HEADER_ADAPTED);
}

/** A body that can't be dropped is kept here until the attempt's time is over. */
export function onRequestBody(slot: GuardSlot, size: i32): Action {
  if (!slot.isDiverted || size === 0) return Action.CONTINUE;
  return dropBuffer(Buffer.REQUEST_BODY, size) ? Action.CONTINUE : Action.PAUSE;
}

export function onRequestTrailers(slot: GuardSlot): void {
  if (slot.isDiverted) removeRequestTrailers();
}

/** Turns the request into one that tells nothing, and tells the meter by the attempt's number. False without the gate's mark. */
function divert(): bool {
  const at = allocate(REQUEST_SIZE + 1);
  if (at === 0 || !loadRequest(changetype<RequestRecord>(at))) return false;
  store<u8>(at + REQUEST_SIZE, changetype<RequestRecord>(at).failedAttempts + 1);
  if (!writeFilterState(names.STATE_DIVERTED, at + REQUEST_SIZE, 1)) return false;
  setHeader(HeaderMap.REQUEST, names.PATH, PATH.ptr, PATH.length);
  setHeader(HeaderMap.REQUEST, names.CONTENT_LENGTH, ZERO.ptr, ZERO.length);
  removeHeader(HeaderMap.REQUEST, names.CONTENT_ENCODING);
  return removeSecrets();
}

/** The caller's keys go with the caller's request only. The next attempt has them again. */
function removeSecrets(): bool {
  if (!pairs.readHeaders(HeaderMap.REQUEST)) return false;
  while (pairs.next()) {
    if (isSecret(pairs.name, pairs.nameLength))
      removeHeaderAt(HeaderMap.REQUEST, pairs.name, pairs.nameLength);
  }
  return true;
}
