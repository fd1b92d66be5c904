// Which tier may answer: asked by the gate for a new request and by admit once a canary's size is known.
import { readState } from "./admission";
import { isCanaryDrawn, Permission, permission, remainingWaitMs } from "./breaker/breaker";
import { Mode } from "./breaker/config";
import { isRefusing } from "./breaker/mode";
import { BackendRecord } from "./breaker/record";
import { State } from "./breaker/state";
import { hasRoom } from "./calls";
import { random32 } from "./host/clock";
import { passOver, startWalk, Why } from "./offered";
import { canWait } from "./patience";
import { Backend, Chain, Policy } from "./policy/policy";
import { readRecord } from "./records";
import { NO_TIER, RequestRecord } from "./request-record";
import { isServiceUp } from "./sync/service";

/** The tier chosen, or -1 when none is permitted. */
export let chosenTier: i32 = -1;
export let chosenGeneration: u32 = 0;
/** A half-open tier before the chosen one that this request was drawn for, or -1. */
export let drawnTier: i32 = -1;
/** The shortest remaining wait of the tiers that refused, in milliseconds. */
export let shortestWaitMs: u64 = 0;

/**
 * Walks the tiers in order to the first one that permits and whose window the prompt fits; when it fits none, to the first
 * that permits: the server will say it better. On the way it notes a half-open tier that drew this request; whether the
 * request is small enough to be its canary is for the caller to find out. O(tiers).
 * @param promptTokens counted, or UNKNOWN
 */
export function choose(policy: Policy, chain: Chain, promptTokens: i32, now: u64): void {
  chosenTier = -1;
  chosenGeneration = 0;
  drawnTier = -1;
  shortestWaitMs = u64.MAX_VALUE;
  startWalk();
  for (let i = 0; i < chain.tiers.length; i++) {
    const backend = unchecked(chain.tiers[i]);
    if (backend.isRefusedAt(now)) {
      passOver(Why.REFUSED, i);
      shortestWaitMs = min<u64>(shortestWaitMs, backend.refusedUntilMs - now);
      continue;
    }
    if (!isServed(policy, backend)) {
      passOver(Why.REFUSED, i);
      continue;
    }
    if (!hasRoom(backend, now)) {
      passOver(Why.LIMITED, i);
      continue;
    }
    const ptr = readState(backend, now);
    if (ptr === 0) continue;
    const record = changetype<BackendRecord>(ptr);
    const allowed = permission(record, backend.breaker, now);
    const isShed = allowed !== Permission.REFUSED && backend.isShedding && canWait(policy);
    if (allowed === Permission.PERMITTED) {
      if (isShed) {
        passOver(Why.SHED, i);
        if (backend.breaker.mode !== Mode.SHADOW) continue;
      }
      if (backend.breaker.mode === Mode.SHADOW && record.state !== State.CLOSED) {
        // All pass; but what would have been refused is counted, and the ramp still needs its canaries.
        passOver(Why.REFUSED, i);
        if (drawnTier < 0 && chosenTier < 0) draw(backend, record, i, now);
      }
      const isFitting = fits(backend, promptTokens);
      if (isFitting || chosenTier < 0) {
        chosenTier = i;
        chosenGeneration = record.generation;
      }
      if (isFitting) return;
      continue;
    }
    passOver(Why.REFUSED, i);
    if (record.state === State.OPEN && isRefusing(backend.breaker.mode))
      backend.refuse(now, record.openUntilMs);
    shortestWaitMs = min<u64>(shortestWaitMs, remainingWaitMs(record, backend.breaker, now));
    if (allowed !== Permission.CANARY_ONLY || isShed || drawnTier >= 0 || chosenTier >= 0) continue;
    draw(backend, record, i, now);
  }
  if (shortestWaitMs === u64.MAX_VALUE) shortestWaitMs = 0;
}

function draw(backend: Backend, record: BackendRecord, tier: i32, now: u64): void {
  if (isCanaryDrawn(record, backend.breaker, now, random32())) drawnTier = tier;
}

/** Whether a prompt (-1 = size not known) has room in the backend's window. */
export function fits(backend: Backend, promptTokens: i32): bool {
  return backend.contextWindow === 0 || promptTokens <= backend.contextWindow;
}

/**
 * Whether the tier chosen before is still a good one, now that the prompt's size may be known better. Then the tiers are not
 * walked again, so that those before it count a request that they refused once.
 */
export function isStillGood(
  policy: Policy,
  chain: Chain,
  request: RequestRecord,
  promptTokens: i32,
  now: u64,
): bool {
  if (request.tier === NO_TIER || request.generation === 0) return false;
  const backend = unchecked(chain.tiers[request.tier]);
  if (!isServed(policy, backend) || !hasRoom(backend, now) || !fits(backend, promptTokens)) return false;
  return permittedGeneration(backend, now) === request.generation;
}

/** A fallback is avoided by the estimate alone, as in failover; the first tier never is: it may be a picture. */
export function isTightFallback(chain: Chain, request: RequestRecord): bool {
  if (request.tier === NO_TIER || request.tier === 0 || request.permit !== 0) return false;
  return !fits(unchecked(chain.tiers[request.tier]), request.promptTokens);
}

/** Whether our own service's health lets the backend serve at all. */
export function isServed(policy: Policy, backend: Backend): bool {
  return !backend.rewritesBody || isServiceUp(policy);
}

/** The generation of a backend that permits an attempt now, or 0 when it does not. Half-open is no failover target. */
export function permittedGeneration(backend: Backend, now: u64): u32 {
  const ptr = readRecord(backend, now);
  if (ptr === 0) return 0;
  const record = changetype<BackendRecord>(ptr);
  return permission(record, backend.breaker, now) === Permission.PERMITTED ? record.generation : 0;
}
