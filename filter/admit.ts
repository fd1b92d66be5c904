// The third position: turns a count into a decision. Closed and Open have nothing to do here.
import * as choice from "./choose";
import { choose } from "./choose";
import { allocate } from "./host/arena";
import { nowMs } from "./host/clock";
import { Slot, SlotPool } from "./host/contexts";
import { increment } from "./host/metrics";
import { clearRouteCache, readProperty, writeFilterState } from "./host/properties";
import { resultPtr, resultSize } from "./host/result";
import { Action } from "./host/stream";
import { Text } from "./host/text";
import * as names from "./names";
import { findPolicy } from "./policies";
import { Exhausted } from "./policy/policy";
import { acquireCanary, grantedGeneration } from "./records";
import { replyExhausted } from "./reply";
import {
  loadRequest,
  NO_TIER,
  namePtr,
  REQUEST_SIZE,
  RequestRecord,
  saveRequest,
  UNKNOWN,
} from "./request-record";

/** A count that is not exact may be an upper bound, as large as the text's bytes: it rules no tier out by itself. */
const BOUND_OVER_TOKENS: i32 = 4;

export const admitSlots: SlotPool = new SlotPool(<i32>offsetof<Slot>() + 16);

export function onRequestHeaders(): Action {
  if (!readProperty(names.STATE_STEP)) return Action.CONTINUE;
  if (!names.STEP_COUNT.equals(resultPtr(), resultSize())) return Action.CONTINUE;
  const at = allocate(REQUEST_SIZE);
  if (at === 0) return Action.CONTINUE;
  const request = changetype<RequestRecord>(at);
  if (!loadRequest(request)) return Action.CONTINUE;
  const policy = findPolicy(request.policyHash, namePtr(request), request.nameLength);
  if (!policy || <i32>request.chain >= policy.chains.length) return Action.CONTINUE;
  const chain = unchecked(policy.chains[request.chain]);
  const now = nowMs();
  const counted = readCount();
  if (counted >= 0) request.promptTokens = counted;

  const candidate = request.permitTier;
  request.permitTier = NO_TIER;
  if (candidate !== NO_TIER && isTrue(names.PROPERTY_CANARY)) {
    const permit = acquireCanary(unchecked(chain.tiers[candidate]), now);
    if (permit !== 0) {
      request.permit = permit;
      request.permitTier = candidate;
      request.tier = candidate;
      request.generation = grantedGeneration();
    }
  }
  if (request.permit === 0) {
    // No canary: the tier named before the count may have changed since, and the size is known better now.
    choose(policy, chain, isTrue(names.PROPERTY_EXACT) ? counted : counted / BOUND_OVER_TOKENS, now);
    if (choice.chosenTier < 0 && chain.exhausted === Exhausted.REPLY) {
      replyExhausted(chain, choice.shortestWaitMs);
      return Action.PAUSE;
    }
    request.tier = <u8>max(choice.chosenTier, 0);
    request.generation = choice.chosenGeneration;
  }
  const backend = unchecked(chain.tiers[request.tier]);
  increment(backend.metrics.permitted);
  request.heldMs = <u32>min<u64>(now - request.startMs, u32.MAX_VALUE);
  writeFilterState(names.STATE_BACKEND, backend.aliasText.ptr, backend.aliasText.length);
  saveRequest(request);
  clearRouteCache();
  return Action.CONTINUE;
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
