// What was tried for a request, as callers and logs read it: "gpu=500, small=timeout".
import { allocate } from "../host/arena";
import { decimal, decimalLength, Text } from "../host/text";
import { FAILURES, Failure, failureName } from "../policy/failure";
import { Chain } from "../policy/policy";
import { MAX_ATTEMPTS, RequestRecord, triedCode, triedTier } from "../request-record";

/** Codes below are statuses, the others failures. */
const FIRST_FAILURE: i32 = 600;
/** The service did not fit the request to the backend, or the answer to the caller: nobody's failure. */
export const UNREWRITTEN: i32 = FIRST_FAILURE + FAILURES;
const MAX_TRY: i32 = 96;

const SEPARATOR = Text.of(", ");
const EQUALS: u8 = 0x3d;
const FAILURE_NAMES: Text[] = [];
for (let i = 0; i < FAILURES; i++) FAILURE_NAMES.push(Text.of(failureName(i)));
FAILURE_NAMES.push(Text.of("unrewritten"));

let size: i32 = 0;

/** What an attempt's end is told as: the backend's status when that was the fault, else what happened. */
export function tryCode(status: i32, failure: Failure): i32 {
  if (status >= 400 && status < FIRST_FAILURE) return status;
  return FIRST_FAILURE + <i32>failure;
}

export function isStatusCode(code: i32): bool {
  return code < FIRST_FAILURE;
}

export function isTimeoutCode(code: i32): bool {
  return code === FIRST_FAILURE + <i32>Failure.TIMEOUT || code === FIRST_FAILURE + <i32>Failure.STALL;
}

/** Writes the failed attempts to scratch memory; the length is in {@link triedLength}. 0 when scratch is exhausted. */
export function triedText(request: RequestRecord, chain: Chain): usize {
  const attempts = min(<i32>request.failedAttempts, MAX_ATTEMPTS);
  const start = allocate(MAX_ATTEMPTS * MAX_TRY);
  size = 0;
  if (start === 0) return 0;
  let at = start;
  for (let i = 0; i < attempts; i++) {
    const tier = triedTier(request, i);
    if (tier >= chain.tiers.length) continue;
    if (at > start) at = putBytes(at, SEPARATOR.ptr, SEPARATOR.length);
    const alias = unchecked(chain.tiers[tier]).aliasText;
    at = putBytes(at, alias.ptr, alias.length);
    store<u8>(at++, EQUALS);
    at = putCode(at, triedCode(request, i));
  }
  size = <i32>(at - start);
  return start;
}

export function triedLength(): i32 {
  return size;
}

function putCode(at: usize, code: i32): usize {
  if (!isStatusCode(code)) {
    const name = FAILURE_NAMES[min(code - FIRST_FAILURE, FAILURE_NAMES.length - 1)];
    return putBytes(at, name.ptr, name.length);
  }
  const digits = decimal(code);
  return digits === 0 ? at : putBytes(at, digits, decimalLength());
}

function putBytes(at: usize, ptr: usize, length: i32): usize {
  memory.copy(at, ptr, length);
  return at + <usize>length;
}
