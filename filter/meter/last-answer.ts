// What the caller gets when every tier has failed: the most telling answer that a backend gave, and what was tried.
import { allocate } from "../host/arena";
import { Buffer, readBuffer } from "../host/buffers";
import { readProperty, writeFilterState } from "../host/properties";
import { resultPtr, resultSize } from "../host/result";
import * as names from "../names";
import { findPolicy } from "../policies";
import { Chain } from "../policy/policy";
import { FailedReply, replyFailed, replyUnmarked } from "../reply";
import { loadedName, loadRequest, RequestRecord, triedCode, triedTier } from "../request-record";
import { answerOf, MeterSlot, Reading, requestOf } from "./slot";
import { isStatusCode, isTimeoutCode, triedLength, triedText } from "./tried";

/** A longer error is not kept; nobody reads it either. */
const KEPT_BYTES: i32 = 1 << 14;
const UNAVAILABLE: i32 = 503;
const BAD_GATEWAY: i32 = 502;
const GATEWAY_TIMEOUT: i32 = 504;
const RATE_LIMITED: i32 = 429;

const reply: FailedReply = new FailedReply();

/** The head of a kept answer; its body follows. */
@unmanaged
class KeptAnswer {
  retryAfter: i32;
  status: u16;
  tier: u16;
}

/** Whether the held error is one that a caller can read: whole JSON. */
export function isTelling(slot: MeterSlot): bool {
  const answer = answerOf(slot);
  return slot.reading === Reading.ERROR && answer.complete && !answer.plain;
}

/** Whether an answer of an earlier attempt tells the caller more than an error of this status. */
export function isOutdone(status: i32): bool {
  return status >= 500 && keptStatus() > 0 && keptStatus() < 500;
}

/** Keeps the held error for the case that no other tier answers. A refusal of the request itself outlives later faults. */
export function keepAnswer(slot: MeterSlot): void {
  const size = slot.scanned;
  if (!isTelling(slot) || size <= 0 || size > KEPT_BYTES || isOutdone(slot.status)) return;
  const at = allocate(offsetof<KeptAnswer>() + size);
  if (at === 0 || !readBuffer(Buffer.RESPONSE_BODY, 0, size) || resultSize() !== size) return;
  const kept = changetype<KeptAnswer>(at);
  kept.retryAfter = slot.retryAfter;
  kept.status = <u16>slot.status;
  kept.tier = slot.tier;
  memory.copy(at + offsetof<KeptAnswer>(), resultPtr(), size);
  writeFilterState(names.STATE_ANSWER, at, <i32>offsetof<KeptAnswer>() + size);
}

function keptStatus(): i32 {
  if (!readProperty(names.STATE_ANSWER) || resultSize() <= <i32>offsetof<KeptAnswer>()) return 0;
  return changetype<KeptAnswer>(resultPtr()).status;
}

/** Answers at the stop cluster. Without the gate's mark nothing is known of the request but that it must not go on. */
export function answerAtStop(slot: MeterSlot): void {
  const request = requestOf(slot);
  if (!loadRequest(request)) {
    replyUnmarked();
    return;
  }
  const policy = findPolicy(request.policyHash, loadedName(), request.nameLength);
  // Nothing was tried: the route's map does not know the tier that the gate chose.
  if (!policy || <i32>request.chain >= policy.chains.length || request.failedAttempts === 0) {
    replyUnmarked();
    return;
  }
  answerFailed(request, unchecked(policy.chains[request.chain]));
}

/** Answers for a request that every tier failed. */
export function answerFailed(request: RequestRecord, chain: Chain): void {
  reply.start(chain, request.failedAttempts);
  reply.tried = triedText(request, chain);
  reply.triedLength = triedLength();
  if (keptStatus() > 0) takeKept(chain);
  else takeLast(request, chain);
  replyFailed(reply);
}

function takeKept(chain: Chain): void {
  const at = resultPtr();
  const kept = changetype<KeptAnswer>(at);
  reply.status = kept.status;
  reply.retryAfter = kept.retryAfter;
  reply.body = at + offsetof<KeptAnswer>();
  reply.bodyLength = resultSize() - <i32>offsetof<KeptAnswer>();
  if (<i32>kept.tier < chain.tiers.length) reply.backend = chain.tiers[kept.tier].aliasText;
}

/** No answer to pass on: the status follows from how the last attempt ended. */
function takeLast(request: RequestRecord, chain: Chain): void {
  const last = <i32>request.failedAttempts - 1;
  const code = triedCode(request, last);
  const tier = triedTier(request, last);
  reply.retryAfter = request.retryAfter;
  if (isTimeoutCode(code)) reply.status = GATEWAY_TIMEOUT;
  else if (isStatusCode(code) && (code >= 500 || code === RATE_LIMITED)) reply.status = code;
  else reply.status = isStatusCode(code) ? BAD_GATEWAY : UNAVAILABLE;
  if (tier < chain.tiers.length) reply.backend = chain.tiers[tier].aliasText;
}
