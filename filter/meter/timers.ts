// The limits that no timer of Envoy keeps, since none sees held bytes (traps.md 2): kept by a tick over the live attempts.
import { Outcome } from "../breaker/outcome";
import { nowMs } from "../host/clock";
import { HeaderMap, setHeader } from "../host/headers";
import { actAs, closeResponse, continueResponse } from "../host/stream";
import { Text } from "../host/text";
import * as names from "../names";
import { Commit } from "../policy/policy";
import { renewPermit } from "../records";
import { file, nameNext, nameStop } from "./conclude";
import { noteTick } from "./recent";
import {
  answerOf,
  backendOf,
  chainOf,
  firstAttempt,
  MeterSlot,
  Origin,
  Phase,
  Reading,
  requestOf,
} from "./slot";

export const TICK_MS: u32 = 250;
const RENEW_EVERY_MS: u64 = 5000;
const CLOCK_SLACK_MS: u64 = 50;
/** More unread bytes than this may lie in Envoy's buffers: the silence may be a slow reader's, not the backend's. */
const BUFFERED_BYTES: i32 = 1 << 20;

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
    if (slot.origin === Origin.USER && check(slot, now)) hasActed = true;
  }
  if (hasActed) actAs(root);
}

/** True when the attempt was acted upon. */
function check(slot: MeterSlot, now: u64): bool {
  if (slot.permit !== 0) keepPermit(slot, now);
  if (slot.phase === Phase.HOLDING) {
    if (!isTokenLate(slot, now) && !isStalled(slot, now)) return false;
    endHeld(slot);
    return true;
  }
  if (slot.phase !== Phase.PASSING || !isStalled(slot, now)) return false;
  // Nothing more can be saved: the client is to see a broken stream, not an endless one.
  if (slot.passedBytes >= BUFFERED_BYTES) return false;
  actAs(slot.id);
  file(slot, Outcome.FAILURE);
  closeResponse();
  return true;
}

/** A stream that has sent no token within its limit, pings or not. */
function isTokenLate(slot: MeterSlot, now: u64): bool {
  if (slot.reading !== Reading.EVENTS || answerOf(slot).firstToken) return false;
  const chain = chainOf(slot);
  if (chain.commit === Commit.COMPLETE && requestOf(slot).stream !== 1) return false;
  return now > slot.tokenClockMs + chain.firstTokenLimitMs(requestOf(slot).promptTokens);
}

function isStalled(slot: MeterSlot, now: u64): bool {
  return slot.lastByteMs !== 0 && now > slot.lastByteMs + chainOf(slot).stallTimeoutMs;
}

/** Ends a held attempt so that Envoy tries the next tier, or, when none is left, answers with JSON. */
function endHeld(slot: MeterSlot): void {
  actAs(slot.id);
  file(slot, Outcome.FAILURE);
  if (!nameNext(slot, false)) nameStop();
  setHeader(HeaderMap.RESPONSE, names.STATUS, GATEWAY_TIMEOUT.ptr, GATEWAY_TIMEOUT.length);
  setHeader(HeaderMap.RESPONSE, names.HEADER_RETRY, names.ONE.ptr, names.ONE.length);
  continueResponse();
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

/** Whether an attempt that ended without an answer was cut by Envoy's per-try timeout: only the clock can tell. */
export function isTimedOut(slot: MeterSlot, now: u64): bool {
  const chain = chainOf(slot);
  const request = requestOf(slot);
  const limit = request.stream === 1 ? chain.firstTokenLimitMs(request.promptTokens) : chain.answerTimeoutMs;
  return now + CLOCK_SLACK_MS >= slot.startMs + limit;
}
