// The first position: sees each request once, on its headers. Refuses at once, names the backend, peeks at the body for
// what the attempts must know, and asks for a count when the request may be a canary.
import { feedPeek, resetPeek } from "./bytes/request-peek";
import * as choice from "./choose";
import { canServe, choose } from "./choose";
import * as headers from "./gate/request-headers";
import { readRequestHeaders } from "./gate/request-headers";
import { GateSlot, peekOf, requestOf } from "./gate/slot";
import { isServiceLost } from "./heartbeat";
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
  if (!readProperty(names.PROPERTY_CHAIN)) {
    readRequestHeaders(false);
    return Action.CONTINUE;
  }
  const at = policy.findChain(resultPtr(), resultSize());
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
  slot.contentLength = headers.contentLength;
  slot.isCoded = headers.isCoded;
  take(slot);
  if (headers.contentLength >= 0 && !headers.isCoded) {
    request.promptTokens = headers.contentLength / BYTES_PER_TOKEN;
    reconsider(slot, policy, chain, now);
  }
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
  if (!slot.isCoded) request.promptTokens = slot.contentLength / BYTES_PER_TOKEN;
  const now = nowMs();
  reconsider(slot, policy, chain, now);
  return finish(slot, policy, chain, now);
}

/** Chooses again when the size says that the chosen tier can't serve, or when the body took its time: states change. */
function reconsider(slot: GateSlot, policy: Policy, chain: Chain, now: u64): void {
  const request = requestOf(slot);
  if (now < request.startMs + STALE_CHOICE_MS) {
    if (request.tier === NO_TIER) return;
    if (canServe(policy, unchecked(chain.tiers[request.tier]), request.promptTokens)) return;
  }
  // A request is drawn once: a second draw would change the ramp's percentage.
  const drawn = slot.drawnTier;
  choose(policy, chain, request.promptTokens, now);
  take(slot);
  slot.drawnTier = drawn;
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
  if (slot.drawnTier !== NO_TIER) tryCanary(slot, policy, chain, now);
  if (request.tier === NO_TIER && !slot.mayHoldPermit) {
    if (chain.exhausted === Exhausted.REPLY) {
      replyExhausted(chain, choice.shortestWaitMs);
      return Action.PAUSE;
    }
    request.tier = 0;
  }
  if (request.tier !== NO_TIER) {
    const backend = unchecked(chain.tiers[request.tier]);
    // While a count is asked for, admit has the last word and counts.
    if (request.permitTier === NO_TIER || request.permit !== 0) increment(backend.metrics.permitted);
    writeFilterState(names.STATE_BACKEND, backend.aliasText.ptr, backend.aliasText.length);
  }
  saveRequest(request);
  if (chain.commit === Commit.FIRST_TOKEN) limitFirstToken(chain, request);
  clearRouteCache();
  return Action.CONTINUE;
}

/** Takes a canary's permit (size estimated) or asks the service for its size (step = count). */
function tryCanary(slot: GateSlot, policy: Policy, chain: Chain, now: u64): void {
  const request = requestOf(slot);
  const backend = unchecked(chain.tiers[slot.drawnTier]);
  const canary = backend.canary;
  if (slot.contentLength < 0 || request.outputTokens > canary.maxOutputTokens) return;
  if (slot.contentLength > canary.maxPromptTokens * MAX_BYTES_PER_CANARY_TOKEN) return;
  // Recovery never depends on the service for ever.
  if (canary.size === CanarySize.COUNT && !isServiceLost(policy)) {
    slot.mayHoldPermit = true;
    request.permitTier = slot.drawnTier;
    writeFilterState(names.STATE_STEP, names.STEP_COUNT.ptr, names.STEP_COUNT.length);
    writeFilterState(names.STATE_CANARY, canary.limits.ptr, canary.limits.length);
    return;
  }
  if (request.promptTokens < 0 || request.promptTokens > canary.maxPromptTokens) return;
  const permit = acquireCanary(backend, now);
  if (permit === 0) return;
  slot.mayHoldPermit = true;
  request.permit = permit;
  request.permitTier = slot.drawnTier;
  request.tier = slot.drawnTier;
  request.generation = grantedGeneration();
}

/**
 * Before response headers only Envoy's own per-try timeout can end an attempt so that it is retried. For event streams
 * it is the first-token limit; answers in one piece keep the route's, which is the answer timeout.
 */
function limitFirstToken(chain: Chain, request: RequestRecord): void {
  if (request.stream !== 1) return;
  const value = decimal(chain.firstTokenLimitMs(request.promptTokens));
  if (value !== 0) setHeader(HeaderMap.REQUEST, names.PER_TRY_TIMEOUT, value, decimalLength());
}

/** n answers of at most maxTokens each; unlimited (-1) stays unlimited. */
function outputTokens(maxTokens: i32, n: i32): i32 {
  if (maxTokens < 0) return UNKNOWN;
  const all = <i64>maxTokens * max(n, 1);
  return all > i32.MAX_VALUE ? i32.MAX_VALUE : <i32>all;
}

/** The request is over, whatever ended it: a permit that no attempt gave back is given back here. */
export function onLog(slot: GateSlot, policy: Policy): void {
  if (!slot.mayHoldPermit) return;
  slot.mayHoldPermit = false;
  const request = requestOf(slot);
  if (!loadRequest(request) || request.permit === 0 || request.permitTier === NO_TIER) return;
  const chain = unchecked(policy.chains[request.chain]);
  releasePermit(unchecked(chain.tiers[request.permitTier]), nowMs(), request.permit);
}
