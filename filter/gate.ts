// The first position: sees each request once, on its headers. Refuses at once, names the backend, peeks at the body for
// what the attempts must know, and asks for a count when the request may be a canary.
import { feedPeek, resetPeek } from "./bytes/request-peek";
import { canAsk } from "./gate/asking";
import { chainOfBody, chainOfModel, hasReadableBody, leaveToAdmit, refusesAll } from "./gate/by-model";
import { chooseAnew, enterChain, finish } from "./gate/decision";
import * as headers from "./gate/request-headers";
import { readRequestHeaders } from "./gate/request-headers";
import { clearDesk, GateSlot, peekOf, requestOf } from "./gate/slot";
import { mark, release } from "./host/arena";
import { Buffer, readBuffer, WINDOW } from "./host/buffers";
import { nowMs } from "./host/clock";
import { readProperty } from "./host/properties";
import { resultPtr, resultSize } from "./host/result";
import { Action } from "./host/stream";
import { Text } from "./host/text";
import * as names from "./names";
import { BY_MODEL } from "./policy/parse-chain";
import { Chain, Policy } from "./policy/policy";
import { releasePermit } from "./records";
import { replyUnknownChain } from "./reply";
import { loadRequest, NO_CHAIN, NO_TIER, startRequest, UNKNOWN } from "./request-record";
import { removeForbiddenTrailers } from "./trailers";

/** A choice older than this is made again before it is acted upon. */
const STALE_CHOICE_MS: u64 = 5;
const BY_MODEL_TEXT = Text.of(BY_MODEL);

export function onRequestHeaders(slot: GateSlot, policy: Policy, isEnd: bool): Action {
  return settle(slot, begin(slot, policy, isEnd));
}

/** A stream may live for minutes after its request was decided upon. */
function settle(slot: GateSlot, action: Action): Action {
  if (!slot.isPeeking) clearDesk(slot);
  return action;
}

function begin(slot: GateSlot, policy: Policy, isEnd: bool): Action {
  slot.drawnTier = NO_TIER;
  slot.hasBody = !isEnd;
  if (policy.goesByModel) return beginByModel(slot, policy);
  let at = policy.onlyChain;
  if (at < 0) {
    if (!readProperty(names.PROPERTY_CHAIN)) {
      readRequestHeaders(false);
      return Action.CONTINUE;
    }
    at = policy.findChain(resultPtr(), resultSize());
    if (at < 0) return onOtherName(slot, policy);
  }
  const chain = unchecked(policy.chains[at]);
  const now = nowMs();
  startRequest(requestOf(slot), policy, at, now);
  if (!enterChain(slot, policy, chain, now)) return Action.PAUSE;
  readRequestHeaders(chain.holds);
  keepHeaders(slot);
  return peekOrFinish(slot, policy, chain, now);
}

/** The route names no chain that there is: it leaves the chain to the request's model, or is wrong. */
function onOtherName(slot: GateSlot, policy: Policy): Action {
  if (!BY_MODEL_TEXT.equals(resultPtr(), resultSize())) {
    replyUnknownChain();
    return Action.PAUSE;
  }
  return beginByModel(slot, policy);
}

function beginByModel(slot: GateSlot, policy: Policy): Action {
  const now = nowMs();
  const request = requestOf(slot);
  startRequest(request, policy, NO_CHAIN, now);
  // Whatever its model is: no body is waited for when nobody could answer it.
  if (refusesAll(policy, now)) return enter(slot, policy, max(policy.defaultChain, 0), now);
  readRequestHeaders(true);
  keepHeaders(slot);
  if (hasReadableBody(slot)) return startPeek(slot);
  const at = chainOfModel(policy, 0, 0);
  return at < 0 ? Action.PAUSE : enter(slot, policy, at, now);
}

function enter(slot: GateSlot, policy: Policy, at: i32, now: u64): Action {
  requestOf(slot).chain = <u8>at;
  const chain = unchecked(policy.chains[at]);
  return enterChain(slot, policy, chain, now) ? peekOrFinish(slot, policy, chain, now) : Action.PAUSE;
}

function keepHeaders(slot: GateSlot): void {
  const request = requestOf(slot);
  request.isHead = headers.isHead;
  request.acceptsCoding = headers.acceptsCoding;
  request.isPost = headers.isPost;
  request.isChat = headers.isChat && headers.isPost;
  slot.contentLength = headers.contentLength;
  slot.isCoded = headers.isCoded;
}

function peekOrFinish(slot: GateSlot, policy: Policy, chain: Chain, now: u64): Action {
  const peeks = chain.peek && slot.hasBody && requestOf(slot).isPost;
  return peeks ? startPeek(slot) : finish(slot, policy, chain, now);
}

function startPeek(slot: GateSlot): Action {
  slot.isPeeking = true;
  resetPeek(peekOf(slot));
  return Action.PAUSE;
}

/** Reads the body as it comes, without a copy of it, until its end: keys may stand behind the messages. */
export function onRequestBody(slot: GateSlot, policy: Policy, size: i32, isEnd: bool): Action {
  if (!slot.isPeeking) return Action.CONTINUE;
  const peek = peekOf(slot);
  while (slot.scanned < size && !slot.isCoded) {
    const top = mark();
    const isRead = readBuffer(Buffer.REQUEST_BODY, slot.scanned, min(size - slot.scanned, WINDOW));
    const length = isRead ? resultSize() : 0;
    if (length > 0) feedPeek(peek, resultPtr(), length);
    release(top);
    if (length <= 0) break;
    slot.scanned += length;
  }
  if (!isEnd) return Action.PAUSE;
  return onRequestEnd(slot, policy, size);
}

export function onRequestTrailers(slot: GateSlot, policy: Policy): Action {
  removeForbiddenTrailers();
  return onRequestEnd(slot, policy, slot.scanned);
}

/** The body is all here (or ended by trailers): decide with what it says. */
export function onRequestEnd(slot: GateSlot, policy: Policy, size: i32): Action {
  return slot.isPeeking ? settle(slot, decide(slot, policy, size)) : Action.CONTINUE;
}

function decide(slot: GateSlot, policy: Policy, size: i32): Action {
  slot.isPeeking = false;
  const request = requestOf(slot);
  const peek = peekOf(slot);
  if (!slot.isCoded && !peek.malformed) {
    request.stream = peek.stream;
    request.outputTokens = outputTokens(peek.maxTokens, peek.n);
  }
  if (slot.contentLength < 0) slot.contentLength = size;
  const now = nowMs();
  request.heldMs = <u32>min<u64>(now - request.startMs, u32.MAX_VALUE);
  if (request.chain === NO_CHAIN) {
    if (slot.isCoded && canAsk(policy)) return leaveToAdmit(slot, policy);
    const at = chainOfBody(peek, policy);
    if (at < 0) return Action.PAUSE;
    request.chain = <u8>at;
    const chosen = unchecked(policy.chains[at]);
    return enterChain(slot, policy, chosen, now) ? finish(slot, policy, chosen, now) : Action.PAUSE;
  }
  const chain = unchecked(policy.chains[request.chain]);
  if (now >= request.startMs + STALE_CHOICE_MS) chooseAnew(slot, policy, chain, now);
  return finish(slot, policy, chain, now);
}

/** n answers of at most maxTokens each. Unlimited (-1) stays so for one answer; several unlimited ones are too many. */
function outputTokens(maxTokens: i32, n: i32): i32 {
  if (maxTokens < 0) return n > 1 ? i32.MAX_VALUE : UNKNOWN;
  const all = <i64>maxTokens * max(n, 1);
  return all > i32.MAX_VALUE ? i32.MAX_VALUE : <i32>all;
}

/** The request is over, whatever ended it: a permit that no attempt gave back is given back here. */
export function onDone(slot: GateSlot, policy: Policy): void {
  if (slot.mayHoldPermit) givePermitBack(slot, policy);
}

function givePermitBack(slot: GateSlot, policy: Policy): void {
  slot.mayHoldPermit = false;
  const request = requestOf(slot);
  if (!loadRequest(request) || request.permit === 0 || request.permitTier === NO_TIER) return;
  // An attempt may have moved it to a newer policy, whose chains and tiers are others: the permit dies by itself.
  if (request.policyHash !== policy.hash) return;
  const chain = unchecked(policy.chains[request.chain]);
  releasePermit(unchecked(chain.tiers[request.permitTier]), nowMs(), request.permit);
}
