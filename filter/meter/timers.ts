// The limits that no timer of Envoy keeps, since none sees held bytes (traps.md 2): kept by a tick over the live attempts.
import { Outcome } from "../breaker/outcome";
import { renewCalls } from "../calls";
import { mark, release } from "../host/arena";
import { nowMs } from "../host/clock";
import { actAs, closeResponse, continueResponse } from "../host/stream";
import { Text } from "../host/text";
import { flushLoads, refreshShedding } from "../loads";
import { eachBackend } from "../policies";
import { Failure } from "../policy/failure";
import { Backend, Commit } from "../policy/policy";
import { renewPermit } from "../records";
import { flushSuccesses } from "../successes";
import { concludeLate } from "./conclude";
import { flushFacts, isSlow, noteNoToken, noteOverdue, waitedMs } from "./facts";
import { file } from "./file";
import { noteTick } from "./recent";
import {
  backendOf,
  chainOf,
  firstAttempt,
  MeterSlot,
  Origin,
  Phase,
  Reading,
  requestOf,
  startTokenClock,
} from "./slot";

export const TICK_MS: u32 = 250;
const RENEW_EVERY_MS: u64 = 5000;
/** What Envoy's buffers take without a pause: beyond it a silence may be a slow reader's, not the backend's. */
const BUFFERED_BYTES: i64 = 1 << 20;

const GATEWAY_TIMEOUT = Text.of("504");

/** Walks the live attempts of this VM. Several roots may tick; one walk a period is enough. */
export function onTick(root: u32): void {
  const now = nowMs();
  if (!noteTick(now, TICK_MS / 2)) return;
  let at = firstAttempt();
  let hasActed = false;
  while (at !== 0) {
    const slot = changetype<MeterSlot>(at);
    at = slot.next; // Acting on a stream may end it.
    // A backend that freezes ends hundreds of attempts in one tick: each gives back the scratch memory it took.
    const top = mark();
    if (slot.origin === Origin.USER && check(slot, now)) hasActed = true;
    release(top);
  }
  if (hasActed) actAs(root);
  flushLoads();
  eachBackend(tellOf, now);
}

/** Tells the other workers what this one has seen of a backend. */
function tellOf(backend: Backend, now: u64): void {
  const top = mark();
  flushSuccesses(backend, now);
  flushFacts(backend, now);
  refreshShedding(backend, now);
  renewCalls(backend, now);
  release(top);
}

/** True when the attempt was acted upon. */
function check(slot: MeterSlot, now: u64): bool {
  if (slot.permit !== 0) keepPermit(slot, now);
  const hasActed = lacksToken(slot) && noteWhenOverdue(slot, now);
  return keepLimits(slot, now) || hasActed;
}

/** True when the attempt was acted upon. */
function keepLimits(slot: MeterSlot, now: u64): bool {
  if (slot.phase === Phase.HOLDING) {
    // A long prompt's first token may take longer than any later pause: it has its own limit.
    if (awaitsToken(slot)) {
      if (!isTokenLate(slot, now)) return false;
      noteNoToken(slot, now);
      endHeld(slot, Failure.TIMEOUT);
    } else if (isStalled(slot, now)) endHeld(slot, Failure.STALL);
    else return false;
    return true;
  }
  if (slot.phase !== Phase.PASSING || !isStalled(slot, now)) return false;
  const isLikelyReader = slot.backlog >= BUFFERED_BYTES;
  if (isLikelyReader && now <= slot.lastByteMs + chainOf(slot).answerTimeoutMs) return false;
  // Nothing more can be saved: the client is to see a broken stream, not an endless one. Whose fault it was is known only
  // while Envoy's buffers had room for all that was sent.
  actAs(slot.id);
  file(slot, slot.passedBytes >= BUFFERED_BYTES ? Outcome.NEUTRAL : Outcome.FAILURE, Failure.STALL);
  closeResponse();
  return true;
}

/** Of a stream that was asked for: an answer in one piece has no first token. */
function lacksToken(slot: MeterSlot): bool {
  if (slot.hasToken || slot.wasSlow || requestOf(slot).stream !== 1) return false;
  if (slot.phase === Phase.WAITING) return slot.isSent;
  return slot.phase !== Phase.DONE && slot.reading === Reading.EVENTS;
}

/** True when the attempt was acted upon: one without an answer has to be asked when it was sent. */
function noteWhenOverdue(slot: MeterSlot, now: u64): bool {
  if (slot.phase !== Phase.WAITING) {
    if (isSlow(slot, waitedMs(slot, now))) noteOverdue(slot);
    return false;
  }
  if (now <= slot.startMs || !isSlow(slot, now - slot.startMs)) return false;
  actAs(slot.id);
  if (startTokenClock(slot) && isSlow(slot, waitedMs(slot, now))) noteOverdue(slot);
  return true;
}

function awaitsToken(slot: MeterSlot): bool {
  if (slot.reading !== Reading.EVENTS || slot.hasToken) return false;
  return chainOf(slot).commit !== Commit.COMPLETE || requestOf(slot).stream === 1;
}

/** A stream that has sent no token within its limit, pings or not. */
function isTokenLate(slot: MeterSlot, now: u64): bool {
  return now > slot.tokenClockMs + chainOf(slot).firstTokenLimitMs(slot.tier, requestOf(slot).promptTokens);
}

function isStalled(slot: MeterSlot, now: u64): bool {
  return slot.lastByteMs !== 0 && now > slot.lastByteMs + chainOf(slot).stallTimeoutMs;
}

function endHeld(slot: MeterSlot, failure: Failure): void {
  actAs(slot.id);
  if (concludeLate(slot, failure, GATEWAY_TIMEOUT)) continueResponse();
}

/**
 * A canary's permit lives as long as its attempt, whose own limits end it: an answer in one piece may be silent for longer than
 * a permit's timeout, and its verdict must count. What dies with a VM or a push is renewed by nobody.
 */
function keepPermit(slot: MeterSlot, now: u64): void {
  if (slot.phase === Phase.DONE) return;
  const period = min<u64>(RENEW_EVERY_MS, backendOf(slot).breaker.permitTimeoutMs / 3);
  if (now < slot.renewedMs + period) return;
  slot.renewedMs = now;
  renewPermit(backendOf(slot), now, slot.permit);
}
