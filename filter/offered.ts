// What is counted of a request that comes to a chain: for each tier that it comes to, once, that the tier is named for it or why it is
// passed over. Choosing may be done again, as more is known of the request; so the last walk is counted, when its choice is final.
import { Mode } from "./breaker/config";
import { increment } from "./host/metrics";
import { tellPassedOver } from "./passed-over";
import { Backend, Chain } from "./policy/policy";
import { RequestRecord } from "./request-record";

/** Why a tier is passed over. */
export enum Why {
  /** It is not Closed, or can't be served without the service. */
  REFUSED,
  /** `maxConcurrentCalls` are in flight. */
  LIMITED,
  /** Its queue is long, and the request can wait. */
  SHED,
}

/** Tiers of the walk that is going on, as bits of one byte each, by `Why`. */
let refused: u8 = 0;
let limited: u8 = 0;
let shed: u8 = 0;

export function startWalk(): void {
  refused = 0;
  limited = 0;
  shed = 0;
}

export function passOver(why: Why, tier: i32): void {
  const bit = <u8>(1 << (<u8>tier));
  if (why === Why.REFUSED) refused |= bit;
  else if (why === Why.LIMITED) limited |= bit;
  else shed |= bit;
}

/** Whether queues alone keep the walk's request from a tier. */
export function isShed(): bool {
  return shed !== 0;
}

/** Keeps the walk in the request, in place of an earlier one's. */
export function keepWalk(request: RequestRecord): void {
  request.refusedBy = refused;
  request.limitedBy = limited;
  request.shedBy = shed;
}

/** Counts the walk that the request keeps: nobody answers it, or somebody else than a tier. */
export function countWalk(request: RequestRecord, chain: Chain): void {
  const passed = request.refusedBy | request.limitedBy | request.shedBy;
  if (passed === 0) return;
  const fresh = passed & ~request.countedBy;
  if (chain.isTraced && fresh !== 0) tellPassedOver(request, chain, fresh);
  for (let i = 0; i < chain.tiers.length; i++) {
    const bit = <u8>(1 << (<u8>i));
    if ((fresh & bit) !== 0) countPassed(request, unchecked(chain.tiers[i]), bit);
  }
  request.countedBy |= passed;
  request.refusedBy = 0;
  request.limitedBy = 0;
  request.shedBy = 0;
}

/** Counts a choice that is final: the tier that is named, and those before it that were passed over. */
export function countChoice(request: RequestRecord, chain: Chain): void {
  const backend = unchecked(chain.tiers[request.tier]);
  const own = <u8>(1 << request.tier);
  // A canary, or who was sent there for want of better, was not passed over; in shadow mode it would have been.
  if (backend.breaker.mode !== Mode.SHADOW || request.permit !== 0) {
    request.refusedBy &= ~own;
    request.limitedBy &= ~own;
    request.shedBy &= ~own;
  }
  countWalk(request, chain);
  countNamed(request, backend);
}

/** Counts the tier that is named: for a request that came to it first, or that an earlier tier did not serve. */
export function countNamed(request: RequestRecord, backend: Backend): void {
  increment(backend.metrics.permitted);
  const before = (request.countedBy | request.visited) & <u8>((1 << request.tier) - 1);
  if (before !== 0) increment(backend.metrics.diverted);
}

function countPassed(request: RequestRecord, backend: Backend, bit: u8): void {
  const metrics = backend.metrics;
  if ((request.refusedBy & bit) !== 0) increment(metrics.refused);
  else if ((request.limitedBy & bit) !== 0) increment(metrics.limited);
  else increment(metrics.shed);
}
