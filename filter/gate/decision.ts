// The gate's decision about a request whose chain and body are known, written where others find it.
import * as choice from "../choose";
import { choose, isTightFallback } from "../choose";
import { HeaderMap, setHeader } from "../host/headers";
import { increment } from "../host/metrics";
import { clearRouteCache, writeFilterState } from "../host/properties";
import { Action } from "../host/stream";
import { decimal, decimalLength, Text } from "../host/text";
import * as names from "../names";
import { countChoice, countWalk, isShed, keepWalk } from "../offered";
import { Chain, Commit, Exhausted, Policy } from "../policy/policy";
import { replyExhausted } from "../reply";
import { NO_TIER, RequestRecord, saveRequest, UNKNOWN } from "../request-record";
import { askForLimits, canAsk, mayBeAnswered, needsCount, needsLimits } from "./asking";
import { GateSlot, requestOf } from "./slot";

/** Bytes of JSON a token has at least, by and large: content-length / 3 never estimates too small a prompt for long. */
const BYTES_PER_TOKEN: i32 = 3;

/** Chooses a tier for the first time; false when the request was refused: no tier permits it, and nobody else may answer. */
export function enterChain(slot: GateSlot, policy: Policy, chain: Chain, now: u64): bool {
  increment(chain.metrics.requests);
  choose(policy, chain, UNKNOWN, now);
  take(slot);
  if (choice.chosenTier >= 0 || choice.drawnTier >= 0) return true;
  if (chain.exhausted === Exhausted.BYPASS || (chain.exhaustedOrder != null && canAsk(policy))) return true;
  refuse(slot, chain);
  return false;
}

/** Answers, and counts, a request that no tier permits. */
function refuse(slot: GateSlot, chain: Chain): void {
  replyExhausted(chain, choice.shortestWaitMs, isShed());
  countWalk(requestOf(slot), chain);
}

/** The choice is old, and states change. But a request is drawn once, or the ramp's percentage would not hold. */
export function chooseAnew(slot: GateSlot, policy: Policy, chain: Chain, now: u64): void {
  const drawn = slot.drawnTier;
  choose(policy, chain, UNKNOWN, now);
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
  keepWalk(request);
}

/** Writes the decision where the route, the service and the attempts will find it. */
export function finish(slot: GateSlot, policy: Policy, chain: Chain, now: u64): Action {
  const request = requestOf(slot);
  if (slot.contentLength >= 0 && !slot.isCoded) request.promptTokens = slot.contentLength / BYTES_PER_TOKEN;
  const isOpen = needsCount(slot, policy, chain, now);
  if (!isOpen && isTightFallback(chain, request)) {
    choose(policy, chain, request.promptTokens, now);
    take(slot);
  }
  const hasLimits = needsLimits(slot, policy, chain);
  let step: Text | null = isOpen || hasLimits ? names.STEP_COUNT : null;
  if (request.tier === NO_TIER && !isOpen) {
    const order = chain.exhaustedOrder;
    if (order && mayBeAnswered(slot, policy, chain)) {
      step = names.STEP_REPLY;
      writeFilterState(names.STATE_REPLY, order.ptr, order.length);
      increment(chain.metrics.substituted);
      countWalk(request, chain);
    } else if (!takeWhatIsThere(slot, policy, chain, now)) return Action.PAUSE;
  }
  if (request.tier !== NO_TIER) {
    const backend = unchecked(chain.tiers[request.tier]);
    // While the service is asked, admit has the last word and counts.
    if (!step) countChoice(request, chain);
    if (chain.naming) writeFilterState(names.STATE_BACKEND, backend.aliasText.ptr, backend.aliasText.length);
  }
  const isLimited = request.stream === 1 && chain.commit === Commit.FIRST_TOKEN;
  if (isLimited)
    request.perTryMs = chain.longestFirstTokenLimitMs(firstTierOf(request), request.promptTokens);
  saveRequest(request, policy.nameText);
  if (step) writeFilterState(names.STATE_STEP, step.ptr, step.length);
  // An answer that costs no tokens takes none of the caller's.
  if (hasLimits && step === names.STEP_COUNT) askForLimits();
  if (isLimited) limitFirstToken(request);
  if (chain.naming) clearRouteCache();
  return Action.CONTINUE;
}

/** Drawn, but no canary after all: what the others say now, in this request's own look. False when it was refused. */
function takeWhatIsThere(slot: GateSlot, policy: Policy, chain: Chain, now: u64): bool {
  choose(policy, chain, UNKNOWN, now);
  const request = requestOf(slot);
  keepWalk(request);
  if (choice.chosenTier < 0 && chain.exhausted !== Exhausted.BYPASS) {
    refuse(slot, chain);
    return false;
  }
  request.tier = <u8>max(choice.chosenTier, 0);
  request.generation = choice.chosenGeneration;
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
