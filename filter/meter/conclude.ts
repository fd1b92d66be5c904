// The end of an attempt: its outcome is filed once, and on failure the next tier is named.
import { Outcome } from "../breaker/outcome";
import { fits, isServed, permittedGeneration } from "../choose";
import { nowMs } from "../host/clock";
import { increment } from "../host/metrics";
import { writeFilterState } from "../host/properties";
import * as names from "../names";
import { BackendMetrics } from "../policy/policy";
import { fileOutcome } from "../records";
import { saveRequest } from "../request-record";
import { recentMs } from "./recent";
import { backendOf, chainOf, MeterSlot, Origin, Phase, policyOf, requestOf } from "./slot";

/** Files the outcome; only the first call of an attempt counts. A probe's verdict is its sender's to file. */
export function file(slot: MeterSlot, outcome: i32): void {
  if (slot.phase === Phase.DONE) return;
  slot.phase = Phase.DONE;
  if (slot.origin !== Origin.USER) return;
  const backend = backendOf(slot);
  count(backend.metrics, outcome);
  // A success in Closed moves no deadline, and its bucket is a second wide: the last tick's time will do.
  const isPlain = outcome === Outcome.SUCCESS && slot.permit === 0;
  const now = isPlain ? max(recentMs(), slot.startMs) : nowMs();
  fileOutcome(backend, now, slot.generation, slot.permit, outcome);
}

function count(metrics: BackendMetrics, outcome: i32): void {
  if (outcome === Outcome.SUCCESS) increment(metrics.success);
  else if (outcome === Outcome.NEUTRAL) increment(metrics.neutral);
  else if (outcome === Outcome.BACKPRESSURE) increment(metrics.backpressure);
  else increment(metrics.failure);
}

/**
 * Names the backend of the next attempt, in filter state, where the retry's route will look. Keeps the rules of who may be
 * asked: attempts and time left, no tier twice (but for one more try of a plain fault on the same, still Closed, backend),
 * no half-open or open tier, a context window that fits. Called after the outcome was filed, so that it is judged with it.
 * @returns false when no tier is left
 */
export function nameNext(slot: MeterSlot, mayStay: bool): bool {
  if (slot.origin !== Origin.USER) return false;
  const request = requestOf(slot);
  const chain = chainOf(slot);
  const now = nowMs();
  request.failedAttempts++;
  request.visited |= <u8>(1 << slot.tier);
  if (<i32>request.failedAttempts >= chain.maxAttempts) return false;
  // From the request's end: a slow upload is not the backends' time.
  if (now > request.startMs + request.heldMs + chain.attemptsDeadlineMs) return false;
  if (mayStay && <i32>request.sameTierRetries < chain.sameTierRetries && slot.permit === 0) {
    if (permittedGeneration(backendOf(slot), now) !== 0) {
      request.sameTierRetries++;
      return name(slot, slot.tier);
    }
  }
  // A window that the estimate does not fit is avoided while there is another tier, but refuses nobody.
  let tooSmall = -1;
  for (let i = 0; i < chain.tiers.length; i++) {
    if (((request.visited >> <u8>i) & 1) !== 0) continue;
    const backend = unchecked(chain.tiers[i]);
    if (!isServed(policyOf(slot), backend) || permittedGeneration(backend, now) === 0) continue;
    if (fits(backend, request.promptTokens)) return name(slot, i);
    if (tooSmall < 0) tooSmall = i;
  }
  return tooSmall >= 0 && name(slot, tooSmall);
}

function name(slot: MeterSlot, tier: i32): bool {
  const request = requestOf(slot);
  const backend = unchecked(chainOf(slot).tiers[tier]);
  request.tier = <u8>tier;
  increment(backend.metrics.permitted);
  saveRequest(request);
  return writeFilterState(names.STATE_BACKEND, backend.aliasText.ptr, backend.aliasText.length);
}

/** Lets Envoy's retry of a reset end at the cluster without hosts, whose answer is JSON: no backend gets the request. */
export function nameStop(): void {
  writeFilterState(names.STATE_BACKEND, names.STOP.ptr, names.STOP.length);
}
