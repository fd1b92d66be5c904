// The third position: turns what the service found out into a decision. A request that the service was not asked about has
// nothing to do here.
import { MODEL_ROOM } from "./bytes/request-peek";
import * as choice from "./choose";
import { choose, isStillGood, isTightFallback } from "./choose";
import { chainOfModel } from "./gate/by-model";
import { allocate } from "./host/arena";
import { nowMs } from "./host/clock";
import { Slot, SlotPool } from "./host/contexts";
import { clearRouteCache, readProperty, writeFilterState } from "./host/properties";
import { resultPtr, resultSize } from "./host/result";
import { Action } from "./host/stream";
import { Text } from "./host/text";
import * as names from "./names";
import { countChoice, countWalk, isShed, keepWalk, startWalk } from "./offered";
import { findPolicy } from "./policies";
import { Chain, Exhausted, Policy } from "./policy/policy";
import { acquireCanary, grantedGeneration } from "./records";
import { replyExhausted } from "./reply";
import {
  loadedName,
  loadRequest,
  NO_CHAIN,
  NO_TIER,
  REQUEST_SIZE,
  RequestRecord,
  saveRequest,
  UNKNOWN,
} from "./request-record";

/** A count that is not exact may be an upper bound, as large as the text's bytes: it rules no tier out by itself. */
const BOUND_OVER_TOKENS: i32 = 4;

export const admitSlots: SlotPool = new SlotPool(<i32>offsetof<Slot>() + 16);

export function onRequestHeaders(): Action {
  if (!isAsked()) return Action.CONTINUE;
  const at = allocate(REQUEST_SIZE);
  if (at === 0) return Action.CONTINUE;
  const request = changetype<RequestRecord>(at);
  if (!loadRequest(request)) return Action.CONTINUE;
  const policy = findPolicy(request.policyHash, loadedName(), request.nameLength);
  if (!policy) return Action.CONTINUE;
  if (policy.hash !== request.policyHash) forgetTiers(request);
  if (request.chain === NO_CHAIN && !findChain(request, policy)) return Action.PAUSE;
  if (<i32>request.chain >= policy.chains.length) return Action.CONTINUE;
  const chain = unchecked(policy.chains[request.chain]);
  const now = nowMs();
  const counted = readCount();
  if (counted >= 0) request.promptTokens = counted;
  // A permit is already held where the gate took it by the estimated size.
  if (request.permit === 0) tryCanary(request, chain, now);
  if (request.permit === 0 && !chooseTier(request, policy, chain, counted, now)) return Action.PAUSE;
  const backend = unchecked(chain.tiers[request.tier]);
  countChoice(request, chain);
  request.heldMs = <u32>min<u64>(now - request.startMs, u32.MAX_VALUE);
  writeFilterState(names.STATE_BACKEND, backend.aliasText.ptr, backend.aliasText.length);
  saveRequest(request, policy.nameText);
  clearRouteCache();
  return Action.CONTINUE;
}

/** Whether the service was asked: for facts, or for an answer that it turned out not to have. */
function isAsked(): bool {
  if (!readProperty(names.STATE_STEP)) return false;
  const ptr = resultPtr();
  const size = resultSize();
  return names.STEP_COUNT.equals(ptr, size) || names.STEP_REPLY.equals(ptr, size);
}

/** Its own policy is gone, and with it what its tiers' numbers mean: a permit dies by itself. */
function forgetTiers(request: RequestRecord): void {
  request.tier = NO_TIER;
  request.permit = 0;
  request.permitTier = NO_TIER;
  startWalk();
  keepWalk(request);
  request.countedBy = 0;
}

/** The gate could not read the body: what the service read in it decides. False when the caller has been answered. */
function findChain(request: RequestRecord, policy: Policy): bool {
  const length = readProperty(names.PROPERTY_MODEL) ? resultSize() : 0;
  const at = chainOfModel(policy, resultPtr(), length <= MODEL_ROOM ? length : 0);
  if (at < 0) return false;
  request.chain = <u8>at;
  return true;
}

function tryCanary(request: RequestRecord, chain: Chain, now: u64): void {
  const candidate = request.permitTier;
  request.permitTier = NO_TIER;
  if (candidate === NO_TIER || !isTrue(names.PROPERTY_CANARY)) return;
  const permit = acquireCanary(unchecked(chain.tiers[candidate]), now);
  if (permit === 0) return;
  request.permit = permit;
  request.permitTier = candidate;
  request.tier = candidate;
  request.generation = grantedGeneration();
}

/** The gate's choice if it still is a good one, else a new one; false when no tier permits and the caller has been answered. */
function chooseTier(request: RequestRecord, policy: Policy, chain: Chain, counted: i32, now: u64): bool {
  let size = UNKNOWN;
  if (counted >= 0) size = isTrue(names.PROPERTY_EXACT) ? counted : counted / BOUND_OVER_TOKENS;
  const isTight = size < 0 && isTightFallback(chain, request);
  if (!isTight && isStillGood(policy, chain, request, size, now)) return true;
  choose(policy, chain, size, now);
  if (choice.chosenTier < 0 && chain.exhausted !== Exhausted.BYPASS) {
    replyExhausted(chain, choice.shortestWaitMs, isShed());
    keepWalk(request);
    countWalk(request, chain);
    return false;
  }
  take(request);
  if (size < 0 && isTightFallback(chain, request)) {
    choose(policy, chain, request.promptTokens, now);
    take(request);
  }
  return true;
}

function take(request: RequestRecord): void {
  request.tier = <u8>max(choice.chosenTier, 0);
  request.generation = choice.chosenGeneration;
  keepWalk(request);
}

/** A fact of the service's; missing (the service is away, say) means no: an unknown size is never a canary. */
function isTrue(fact: Text): bool {
  return readProperty(fact) && resultSize() >= 1 && load<u8>(resultPtr()) === 1;
}

function readCount(): i32 {
  if (!readProperty(names.PROPERTY_PROMPT_TOKENS) || resultSize() !== 8) return UNKNOWN;
  const value = load<f64>(resultPtr());
  return value >= 0 && value < 2147483647 ? <i32>value : UNKNOWN;
}
