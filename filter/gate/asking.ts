// When a request goes to the service before its tier is final.
import { writeFilterState } from "../host/properties";
import * as names from "../names";
import { CanarySize, Chain, Policy } from "../policy/policy";
import { acquireCanary, grantedGeneration } from "../records";
import { NO_TIER, RequestRecord } from "../request-record";
import { isServiceLost, isServiceUp } from "../sync/service";
import { GateSlot, requestOf } from "./slot";

const MAX_BYTES_PER_CANARY_TOKEN: i32 = 8;

/** Whether the service is there to be asked. */
export function canAsk(policy: Policy): bool {
  return policy.serviceCluster != null && isServiceUp(policy);
}

/**
 * Whether the choice has to wait for a count: the request may be a canary, or too large for the chosen tier. May take a
 * canary's permit itself, where the size is estimated.
 */
export function needsCount(slot: GateSlot, policy: Policy, chain: Chain, now: u64): bool {
  const request = requestOf(slot);
  if (slot.drawnTier !== NO_TIER && tryCanary(slot, policy, chain, now)) return request.permit === 0;
  return mayOverflow(policy, chain, request);
}

/** Whether the service is to check the caller's limits. Who asks for no model's work has none. */
export function needsLimits(slot: GateSlot, policy: Policy, chain: Chain): bool {
  return chain.limits && requestOf(slot).isPost && slot.hasBody && canAsk(policy);
}

/** Tells the service to check them: it also counts requests of chains that have none. */
export function askForLimits(): void {
  writeFilterState(names.STATE_LIMITS, names.ONE.ptr, names.ONE.length);
}

/** Whether the service may have an answer where no tier has. */
export function mayBeAnswered(slot: GateSlot, policy: Policy, chain: Chain): bool {
  return chain.exhaustedOrder != null && requestOf(slot).isPost && slot.hasBody && canAsk(policy);
}

/**
 * Whether the chosen tier's window may be too small. The estimate is too rough to decide that: a picture of 200 kB is some
 * hundred tokens. Above half of the window the prompt is counted, and admit decides.
 */
function mayOverflow(policy: Policy, chain: Chain, request: RequestRecord): bool {
  if (request.tier === NO_TIER) return false;
  const window = unchecked(chain.tiers[request.tier]).contextWindow;
  return window > 0 && request.promptTokens > window / 2 && canAsk(policy);
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
