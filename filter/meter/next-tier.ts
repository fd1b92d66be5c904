// Who is asked after a failure. Keeps the rules: attempts and time left, no tier twice (but for one more try of a plain fault
// on the same, still Closed, backend), no half-open or open tier, a context window that fits.
import { Mode } from "../breaker/config";
import { hasRoom } from "../calls";
import { fits, isServed, permittedGeneration } from "../choose";
import { nowMs } from "../host/clock";
import { canChangeCluster } from "../host/envoy-version";
import { increment } from "../host/metrics";
import { writeFilterState } from "../host/properties";
import * as names from "../names";
import { countNamed, countWalk } from "../offered";
import { canWait } from "../patience";
import { Backend } from "../policy/policy";
import { noteTry, saveRequest } from "../request-record";
import { backendOf, chainOf, MeterSlot, Origin, policyOf, requestOf } from "./slot";

/**
 * Names the backend of the next attempt, in filter state, where the retry's route will look. Called after the outcome was
 * filed, so that it is judged with it.
 * @param code what is told of this attempt: a status, or `tryCode`
 * @param mayStay one more try on the same backend is allowed
 * @returns false when no tier is left: the request has failed
 */
export function nameNext(slot: MeterSlot, code: i32, mayStay: bool): bool {
  if (findNext(slot, code, mayStay)) return true;
  if (slot.origin === Origin.USER) increment(chainOf(slot).metrics.failed);
  return false;
}

function findNext(slot: MeterSlot, code: i32, mayStay: bool): bool {
  if (!mayTryAgain(slot, code)) return false;
  const request = requestOf(slot);
  const chain = chainOf(slot);
  const now = nowMs();
  if (mayStay && <i32>request.sameTierRetries < chain.sameTierRetries && slot.permit === 0) {
    if (permittedGeneration(backendOf(slot), now) !== 0) {
      request.sameTierRetries++;
      return name(slot, slot.tier);
    }
  }
  if (!canChangeCluster()) return false;
  // A window that the estimate does not fit is avoided while there is another tier, but refuses nobody.
  let tooSmall = -1;
  for (let i = 0; i < chain.tiers.length; i++) {
    const backend = unchecked(chain.tiers[i]);
    if (!mayServe(slot, backend, i, now)) continue;
    if (fits(backend, request.promptTokens)) return name(slot, i);
    if (tooSmall < 0) tooSmall = i;
  }
  return tooSmall >= 0 ? name(slot, tooSmall) : nameNobody(slot);
}

/** The same for a prompt that was too long: only a tier with a larger window helps, one of unknown size if there is none. */
export function nameLarger(slot: MeterSlot, code: i32): bool {
  if (!mayTryAgain(slot, code) || !canChangeCluster()) return false;
  const chain = chainOf(slot);
  const now = nowMs();
  const least = backendOf(slot).contextWindow;
  let unknown = -1;
  for (let i = 0; i < chain.tiers.length; i++) {
    const backend = unchecked(chain.tiers[i]);
    // A smaller one would refuse it too, now as well as after a larger one's fault.
    if (backend.contextWindow > 0 && backend.contextWindow <= least)
      requestOf(slot).visited |= <u8>(1 << (<u8>i));
    if (!mayServe(slot, backend, i, now)) continue;
    if (backend.contextWindow > least) return name(slot, i);
    if (backend.contextWindow === 0 && unknown < 0) unknown = i;
  }
  return unknown >= 0 ? name(slot, unknown) : nameNobody(slot);
}

/**
 * Ends the request at the stop cluster, where the meter itself answers: no backend gets it. For an attempt without an answer
 * that could be passed on.
 */
export function nameStop(slot: MeterSlot): void {
  saveRequest(requestOf(slot), policyOf(slot).nameText);
  writeFilterState(names.STATE_BACKEND, names.STOP.ptr, names.STOP.length);
}

/** Counts the failed attempt; whether another may start. */
function mayTryAgain(slot: MeterSlot, code: i32): bool {
  if (slot.origin !== Origin.USER) return false;
  const request = requestOf(slot);
  const chain = chainOf(slot);
  noteTry(request, slot.tier, code);
  request.failedAttempts++;
  request.retryAfter = max(slot.retryAfter, 0);
  request.visited |= <u8>(1 << slot.tier);
  if (<i32>request.failedAttempts >= chain.maxAttempts) return false;
  // From the request's end: a slow upload is not the backends' time.
  return nowMs() <= request.startMs + request.heldMs + chain.attemptsDeadlineMs;
}

function mayServe(slot: MeterSlot, backend: Backend, tier: i32, now: u64): bool {
  const request = requestOf(slot);
  const bit = <u8>(1 << (<u8>tier));
  if ((request.visited & bit) !== 0) return false;
  const policy = policyOf(slot);
  if (!isServed(policy, backend)) request.refusedBy |= bit;
  else if (!hasRoom(backend, now)) request.limitedBy |= bit;
  else if (permittedGeneration(backend, now) === 0) request.refusedBy |= bit;
  else if (backend.isShedding && backend.breaker.mode !== Mode.SHADOW && canWait(policy))
    request.shedBy |= bit;
  else return true;
  return false;
}

/** Nobody is left; those that were passed over have counted it. */
function nameNobody(slot: MeterSlot): bool {
  countWalk(requestOf(slot), chainOf(slot));
  return false;
}

function name(slot: MeterSlot, tier: i32): bool {
  const request = requestOf(slot);
  const chain = chainOf(slot);
  const backend = unchecked(chain.tiers[tier]);
  request.tier = <u8>tier;
  countWalk(request, chain);
  if (tier === <i32>slot.tier) increment(backend.metrics.permitted);
  else countNamed(request, backend);
  saveRequest(request, policyOf(slot).nameText);
  return writeFilterState(names.STATE_BACKEND, backend.aliasText.ptr, backend.aliasText.length);
}
