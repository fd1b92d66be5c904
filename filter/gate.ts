// The first position: sees each request once, on its headers. Refuses at once, names the backend, peeks at the body for
// what the attempts must know, and asks for a count when the request may be a canary.
import { feedPeek, resetPeek } from "./bytes/request-peek";
import * as choice from "./choose";
import { choose, fits } from "./choose";
import * as headers from "./gate/request-headers";
import { readRequestHeaders } from "./gate/request-headers";
import { GateSlot, peekOf, requestOf } from "./gate/slot";
import { isServiceLost, isServiceUp } from "./heartbeat";
import { mark, release } from "./host/arena";
import { Buffer, readBuffer, WINDOW } from "./host/buffers";
import { nowMs } from "./host/clock";
import { HeaderMap, setHeader } from "./host/headers";
import { increment } from "./host/metrics";
import { clearRouteCache, readProperty, writeFilterState } from "./host/properties";
import { resultPtr, resultSize } from "./host/result";
import { Action } from "./host/stream";
import { decimal, decimalLength } from "./host/text";
import * as names from "./names";
import { CanarySize, Chain, Commit, Exhausted, Policy } from "./policy/policy";
import { acquireCanary, grantedGeneration, releasePermit } from "./records";
import { replyExhausted, replyUnknownChain } from "./reply";
import { loadRequest, NO_TIER, RequestRecord, saveRequest, startRequest, UNKNOWN } from "./request-record";

/** Bytes of JSON a token has at least, by and large: content-length / 3 never estimates too small a prompt for long. */
const BYTES_PER_TOKEN: i32 = 3;
const MAX_BYTES_PER_CANARY_TOKEN: i32 = 8;
/** A choice older than this is made again before it is acted upon. */
const STALE_CHOICE_MS: u64 = 5;

export function onRequestHeaders(slot: GateSlot, policy: Policy, isEnd: bool): Action {
  slot.drawnTier = NO_TIER;
  let at = policy.onlyChain;
  if (at < 0) {
    if (!readProperty(names.PROPERTY_CHAIN)) {
      readRequestHeaders(false);
      return Action.CONTINUE;
    }
    at = policy.findChain(resultPtr(), resultSize());
  }
  if (at < 0) {
    replyUnknownChain();
    return Action.PAUSE;
  }
  const chain = unchecked(policy.chains[at]);
  const now = nowMs();
  const request = requestOf(slot);
  startRequest(request, policy, at, now);
  choose(policy, chain, UNKNOWN, now);
  if (choice.chosenTier < 0 && choice.drawnTier < 0 && chain.exhausted === Exhausted.REPLY) {
    replyExhausted(chain, choice.shortestWaitMs);
    return Action.PAUSE;
  }
  readRequestHeaders(chain.holds);
  request.isHead = headers.isHead;
  request.acceptsCoding = headers.acceptsCoding;
  request.isPost = headers.isPost;
  request.isChat = headers.isChat && headers.isPost;
  slot.contentLength = headers.contentLength;
  slot.isCoded = headers.isCoded;
  take(slot);
  if (!chain.peek || !headers.isPost || isEnd) return finish(slot, policy, chain, now);
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

/** The body is all here (or ended by trailers): decide with what it says. */
export function onRequestEnd(slot: GateSlot, policy: Policy, size: i32): Action {
  if (!slot.isPeeking) return Action.CONTINUE;
  slot.isPeeking = false;
  const request = requestOf(slot);
  const chain = unchecked(policy.chains[request.chain]);
  const peek = peekOf(slot);
  if (!slot.isCoded && !peek.malformed) {
    request.stream = peek.stream;
    request.outputTokens = outputTokens(peek.maxTokens, peek.n);
  }
  if (slot.contentLength < 0) slot.contentLength = size;
  const now = nowMs();
  request.heldMs = <u32>min<u64>(now - request.startMs, u32.MAX_VALUE);
  if (now >= request.startMs + STALE_CHOICE_MS) {
    // The body took its time, and states change. But a request is drawn once, or the ramp's percentage would not hold.
    const drawn = slot.drawnTier;
    choose(policy, chain, UNKNOWN, now);
    take(slot);
    slot.drawnTier = drawn;
  }
  return finish(slot, policy, chain, now);
}

/** Keeps the present choice in the request, whether or not it is final. */
function take(slot: GateSlot): void {
  const request = requestOf(slot);
  const tier = choice.chosenTier;
  request.tier = tier < 0 ? NO_TIER : <u8>tier;
  request.generation = choice.chosenGeneration;
  slot.drawnTier = choice.drawnTier < 0 ? NO_TIER : <u8>choice.drawnTier;
}

/** Writes the decision where the route, the service and the attempts will find it. */
function finish(slot: GateSlot, policy: Policy, chain: Chain, now: u64): Action {
  const request = requestOf(slot);
  if (slot.contentLength >= 0 && !slot.isCoded) request.promptTokens = slot.contentLength / BYTES_PER_TOKEN;
  const isAsked = asksForCount(slot, policy, chain, now);
  if (!isAsked && isTightFallback(chain, request)) {
    choose(policy, chain, request.promptTokens, now);
    take(slot);
  }
  if (request.tier === NO_TIER && !isAsked) {
    // Drawn, but no canary after all: what the others say now, in this request's own look.
    choose(policy, chain, UNKNOWN, now);
    if (choice.chosenTier < 0 && chain.exhausted === Exhausted.REPLY) {
      replyExhausted(chain, choice.shortestWaitMs);
      return Action.PAUSE;
    }
    request.tier = <u8>max(choice.chosenTier, 0);
    request.generation = choice.chosenGeneration;
  }
  if (request.tier !== NO_TIER) {
    const backend = unchecked(chain.tiers[request.tier]);
    // While a count is asked for, admit has the last word and counts.
    if (!isAsked) increment(backend.metrics.permitted);
    if (chain.naming) writeFilterState(names.STATE_BACKEND, backend.aliasText.ptr, backend.aliasText.length);
  }
  const isLimited = request.stream === 1 && chain.commit === Commit.FIRST_TOKEN;
  if (isLimited)
    request.perTryMs = chain.longestFirstTokenLimitMs(firstTierOf(request), request.promptTokens);
  saveRequest(request);
  if (isAsked) writeFilterState(names.STATE_STEP, names.STEP_COUNT.ptr, names.STEP_COUNT.length);
  if (isLimited) limitFirstToken(request);
  if (chain.naming) clearRouteCache();
  return Action.CONTINUE;
}

/** A fallback is avoided by the estimate alone, as in failover; the first tier never is: it may be a picture. */
function isTightFallback(chain: Chain, request: RequestRecord): bool {
  if (request.tier === NO_TIER || request.tier === 0 || request.permit !== 0) return false;
  return !fits(unchecked(chain.tiers[request.tier]), request.promptTokens);
}

/** Whether the service must count first: the request may be a canary, or too large for the chosen tier. */
function asksForCount(slot: GateSlot, policy: Policy, chain: Chain, now: u64): bool {
  const request = requestOf(slot);
  if (slot.drawnTier !== NO_TIER && tryCanary(slot, policy, chain, now)) return request.permit === 0;
  return mayOverflow(policy, chain, request);
}

/**
 * Whether the chosen tier's window may be too small. The estimate is too rough to decide that: a picture of 200 kB is some
 * hundred tokens. Above half of the window the prompt is counted, and admit decides.
 */
function mayOverflow(policy: Policy, chain: Chain, request: RequestRecord): bool {
  if (request.tier === NO_TIER || !policy.serviceCluster) return false;
  const window = unchecked(chain.tiers[request.tier]).contextWindow;
  return window > 0 && request.promptTokens > window / 2 && isServiceUp(policy);
}

/** Takes a canary's permit (size estimated), or makes the request a candidate (size to be counted). False: it is neither. */
function tryCanary(slot: GateSlot, policy: Policy, chain: Chain, now: u64): bool {
  const request = requestOf(slot);
  const backend = unchecked(chain.tiers[slot.drawnTier]);
  const canary = backend.canary;
  if (!request.isPost || slot.contentLength < 0) return false;
  if (request.outputTokens > canary.maxOutputTokens) return false;
  if (slot.contentLength > canary.maxPromptTokens * MAX_BYTES_PER_CANARY_TOKEN) return false;
  // Recovery never depends on the service for ever.
  if (canary.size === CanarySize.COUNT && !isServiceLost(policy)) {
    slot.mayHoldPermit = true;
    request.permitTier = slot.drawnTier;
    return writeFilterState(names.STATE_CANARY, canary.limits.ptr, canary.limits.length);
  }
  if (request.promptTokens < 0 || request.promptTokens > canary.maxPromptTokens) return false;
  const permit = acquireCanary(backend, now);
  if (permit === 0) return false;
  slot.mayHoldPermit = true;
  request.permit = permit;
  request.permitTier = slot.drawnTier;
  request.tier = slot.drawnTier;
  request.generation = grantedGeneration();
  return true;
}

/**
 * Before response headers only Envoy's own per-try timeout can end an attempt so that it is retried. For event streams
 * it is the first-token limit; answers in one piece keep the route's, which is the answer timeout.
 */
function limitFirstToken(request: RequestRecord): void {
  const value = decimal(request.perTryMs);
  if (value !== 0) setHeader(HeaderMap.REQUEST, names.PER_TRY_TIMEOUT, value, decimalLength());
}

/** While a count is awaited, any tier may still be the first. */
function firstTierOf(request: RequestRecord): i32 {
  return request.tier === NO_TIER || request.permitTier !== NO_TIER ? 0 : <i32>request.tier;
}

/** n answers of at most maxTokens each. Unlimited (-1) stays so for one answer; several unlimited ones are too many. */
function outputTokens(maxTokens: i32, n: i32): i32 {
  if (maxTokens < 0) return n > 1 ? i32.MAX_VALUE : UNKNOWN;
  const all = <i64>maxTokens * max(n, 1);
  return all > i32.MAX_VALUE ? i32.MAX_VALUE : <i32>all;
}

/** The request is over, whatever ended it: a permit that no attempt gave back is given back here. */
export function onDone(slot: GateSlot, policy: Policy): void {
  if (!slot.mayHoldPermit) return;
  slot.mayHoldPermit = false;
  const request = requestOf(slot);
  if (!loadRequest(request) || request.permit === 0 || request.permitTier === NO_TIER) return;
  // An attempt may have moved it to a newer policy, whose chains and tiers are others: the permit dies by itself.
  if (request.policyHash !== policy.hash) return;
  const chain = unchecked(policy.chains[request.chain]);
  releasePermit(unchecked(chain.tiers[request.permitTier]), nowMs(), request.permit);
}
