// The second half of the story, once per attempt, at the backend's cluster: starts the attempt from the caller's original
// request, keeps the answer back until it is worth passing on, judges it, and on failure names the next tier.

import { Outcome } from "./breaker/outcome";
import { endAnswer, feedAnswer, resetAnswer } from "./bytes/answer";
import { mark, release as releaseArena } from "./host/arena";
import { Buffer, readBuffer, WINDOW } from "./host/buffers";
import { nowMs } from "./host/clock";
import { addHeader, HeaderMap, removeHeader, setHeader } from "./host/headers";
import { increment } from "./host/metrics";
import { readProperty } from "./host/properties";
import { resultPtr, resultSize } from "./host/result";
import { Action, closeResponse } from "./host/stream";
import { decimal, decimalLength, Text } from "./host/text";
import { completeOutcome, errorOutcome, errorStatusOutcome, isBadStatus } from "./meter/answer";
import { file, nameNext, nameStop } from "./meter/conclude";
import { recentMs } from "./meter/recent";
import * as head from "./meter/response-headers";
import { Content, readResponseHeaders } from "./meter/response-headers";
import * as slots from "./meter/slot";
import { answerOf, backendOf, chainOf, MeterSlot, Origin, Phase, Reading, requestOf } from "./meter/slot";
import { startAttempt } from "./meter/start";
import { isTimedOut } from "./meter/timers";
import * as names from "./names";
import { Commit } from "./policy/policy";

/** Held before the first token; more than this without one goes on unheld, never as an error. */
const HOLD_BEFORE_TOKEN: i32 = 1 << 16;
/** Held of a whole stream when the chain commits only complete answers. */
const HOLD_COMPLETE: i32 = 1 << 20;
const HOLD_ERROR: i32 = 1 << 16;
const SWITCHING_PROTOCOLS: i32 = 101;
const MAX_PATIENCE_SECONDS: i64 = 3;

const BAD_GATEWAY = Text.of("502");
const VIA_UPSTREAM = Text.of("via_upstream");
const TOO_LARGE = Text.of("response_payload_too_large");

export function onRequestHeaders(slot: MeterSlot): void {
  startAttempt(slot);
}

export function onResponseHeaders(slot: MeterSlot, isEnd: bool): Action {
  readResponseHeaders();
  slot.status = head.status;
  if (slot.origin !== Origin.USER) return Action.CONTINUE;
  if (head.status < 200) {
    // An upgraded connection's end says nothing about the backend.
    if (head.status === SWITCHING_PROTOCOLS) file(slot, Outcome.NEUTRAL);
    return Action.CONTINUE;
  }
  slot.lastByteMs = recentMs();
  slot.sawRetryAfter = head.retryAfter >= 0;
  const hasBody = !isEnd && !requestOf(slot).isHead;
  if (head.status >= 300) {
    const mayTell = isBadStatus(head.status) || (head.status >= 400 && head.content === Content.JSON);
    const canRead = hasBody && !head.isCoded && head.contentLength <= HOLD_ERROR;
    return mayTell && canRead ? hold(slot, Reading.ERROR) : concludeError(slot);
  }
  if (!hasBody) {
    decorate(slot);
    file(slot, Outcome.SUCCESS);
    return Action.CONTINUE;
  }
  return startReading(slot);
}

/** A 2xx with a body: what can be read of it, and whether it is held meanwhile. */
function startReading(slot: MeterSlot): Action {
  const chain = chainOf(slot);
  let reading = Reading.NONE;
  if (!head.isCoded && head.status === 200) {
    if (head.content === Content.EVENTS && requestOf(slot).isChat) reading = Reading.EVENTS;
    else if (head.content === Content.JSON && head.contentLength <= chain.holdLimit) reading = Reading.JSON;
  }
  if (reading === Reading.EVENTS) startTokenClock(slot);
  if (reading !== Reading.NONE && chain.holds) return hold(slot, reading);
  slot.reading = reading;
  if (reading !== Reading.NONE) resetAnswer(answerOf(slot), reading === Reading.EVENTS);
  pass(slot);
  return Action.CONTINUE;
}

function hold(slot: MeterSlot, reading: Reading): Action {
  slot.reading = reading;
  slot.phase = Phase.HOLDING;
  resetAnswer(answerOf(slot), reading === Reading.EVENTS);
  return Action.PAUSE;
}

/**
 * From when the backend could have the request: our own queue does not count against it (traps.md 9). A slow upload does
 * not either: a chain that holds also peeks, so the body was complete before the attempt began.
 */
function startTokenClock(slot: MeterSlot): void {
  slot.tokenClockMs = slot.startMs;
  if (!readProperty(names.PROPERTY_POOL_READY) || resultSize() !== 8) return;
  const waited = load<i64>(resultPtr()) / 1_000_000;
  if (waited > 0) slot.tokenClockMs = max(slot.tokenClockMs, slot.startMs + waited);
}

export function onResponseBody(slot: MeterSlot, size: i32, isEnd: bool): Action {
  if (slot.phase === Phase.HOLDING) return onHeldBody(slot, size, isEnd);
  if (slot.phase !== Phase.PASSING) return Action.CONTINUE;
  slot.lastByteMs = recentMs();
  slot.passedBytes = min(slot.passedBytes, i32.MAX_VALUE - size) + size;
  if (slot.reading !== Reading.NONE) read(slot, 0, size);
  return isEnd ? onAnswerEnd(slot) : Action.CONTINUE;
}

/** While held the buffer grows: read what is new, then decide whether to let go. */
function onHeldBody(slot: MeterSlot, size: i32, isEnd: bool): Action {
  slot.lastByteMs = recentMs();
  if (size > slot.scanned) {
    read(slot, slot.scanned, size);
    slot.scanned = size;
  }
  if (isEnd) return onAnswerEnd(slot);
  const answer = answerOf(slot);
  if (slot.reading === Reading.ERROR) {
    return size > HOLD_ERROR ? concludeError(slot) : Action.PAUSE;
  }
  const chain = chainOf(slot);
  if (slot.reading === Reading.JSON) return size > chain.holdLimit ? overflow(slot) : Action.PAUSE;
  if (answer.errorSeen) return concludeBroken(slot, errorOutcome(answer));
  if (chain.commit === Commit.COMPLETE) return size > HOLD_COMPLETE ? overflow(slot) : Action.PAUSE;
  if (answer.firstToken) return pass(slot);
  return size > HOLD_BEFORE_TOKEN ? overflow(slot) : Action.PAUSE;
}

/** Trailers end an answer without an end of stream in any body callback. */
export function onResponseTrailers(slot: MeterSlot): Action {
  const isOpen = slot.phase === Phase.HOLDING || slot.phase === Phase.PASSING;
  return isOpen ? onAnswerEnd(slot) : Action.CONTINUE;
}

function onAnswerEnd(slot: MeterSlot): Action {
  const answer = answerOf(slot);
  if (slot.reading !== Reading.NONE) endAnswer(answer);
  if (slot.reading === Reading.ERROR) return concludeError(slot);
  const outcome = completeOutcome(slot, answer);
  if (slot.phase === Phase.HOLDING && outcome !== Outcome.SUCCESS) return concludeBroken(slot, outcome);
  if (slot.phase === Phase.HOLDING) decorate(slot);
  file(slot, outcome);
  if (outcome === Outcome.SUCCESS || slot.reading !== Reading.EVENTS || answer.errorSeen)
    return Action.CONTINUE;
  // The stream stopped in the middle, but ended like a whole one: the client must not take it for that.
  closeResponse();
  return Action.PAUSE;
}

function read(slot: MeterSlot, from: i32, to: i32): void {
  const answer = answerOf(slot);
  while (from < to) {
    const top = mark();
    const isRead = readBuffer(Buffer.RESPONSE_BODY, from, min(to - from, WINDOW));
    const length = isRead ? resultSize() : 0;
    if (length > 0) feedAnswer(answer, resultPtr(), length);
    releaseArena(top);
    if (length <= 0) return;
    from += length;
  }
}

/** From here on the client's bytes and their timing are the upstream's own. */
function pass(slot: MeterSlot): Action {
  decorate(slot);
  slot.phase = Phase.PASSING;
  return Action.CONTINUE;
}

function overflow(slot: MeterSlot): Action {
  increment(backendOf(slot).metrics.holdOverflow);
  return pass(slot);
}

/** An error status, with or without a message: a fault is the next tier's turn, else the caller gets this very answer. */
function concludeError(slot: MeterSlot): Action {
  const outcome = errorStatusOutcome(slot, answerOf(slot));
  if (outcome === Outcome.NEUTRAL) return concludeRefusal(slot);
  const isPatient = outcome === Outcome.BACKPRESSURE && isShortWait(slot);
  file(slot, outcome);
  if (nameNext(slot, isPatient || outcome === Outcome.FAILURE)) {
    if (isPatient) waitAndRetry();
    else askForRetry();
  } else {
    decorate(slot);
  }
  return Action.CONTINUE;
}

/** Retry-After is read again: other attempts' headers were seen since this one's. */
function isShortWait(slot: MeterSlot): bool {
  if (!slot.sawRetryAfter) return false;
  readResponseHeaders();
  return head.retryAfter >= 0 && head.retryAfter <= MAX_PATIENCE_SECONDS;
}

/** A 200 that is none, still held: seen as a 502 by Envoy's outlier detection, and never by the client. */
function concludeBroken(slot: MeterSlot, outcome: i32): Action {
  file(slot, outcome);
  if (nameNext(slot, false)) {
    setHeader(HeaderMap.RESPONSE, names.STATUS, BAD_GATEWAY.ptr, BAD_GATEWAY.length);
    askForRetry();
  } else {
    decorate(slot);
  }
  return Action.CONTINUE;
}

/** 3xx and other 4xx: nobody's failure, but a set-up fault of a fallback is no answer for the caller either. */
function concludeRefusal(slot: MeterSlot): Action {
  const isDenied = slot.status === 401 || slot.status === 403;
  file(slot, isDenied && slot.hasOwnCredentials ? Outcome.FAILURE : Outcome.NEUTRAL);
  const isSetUpFault = isDenied || slot.status === 404;
  if (isSetUpFault && slot.tier > 0 && nameNext(slot, false)) askForRetry();
  else decorate(slot);
  return Action.CONTINUE;
}

/** On the way to another tier Retry-After would make Envoy wait before it. */
function askForRetry(): void {
  removeHeader(HeaderMap.RESPONSE, names.RETRY_AFTER);
  waitAndRetry();
}

function waitAndRetry(): void {
  setHeader(HeaderMap.RESPONSE, names.HEADER_RETRY, names.ONE.ptr, names.ONE.length);
}

/** Tells the caller who answered, and at which attempt. */
function decorate(slot: MeterSlot): void {
  if (!chainOf(slot).answerHeaders) return;
  const alias = backendOf(slot).aliasText;
  addHeader(HeaderMap.RESPONSE, names.HEADER_BACKEND, alias.ptr, alias.length);
  const value = decimal(slot.attempt);
  if (value !== 0) addHeader(HeaderMap.RESPONSE, names.HEADER_ATTEMPTS, value, decimalLength());
}

/** The attempt is over, and its slot with it. */
export function onDone(slot: MeterSlot): void {
  if (slot.phase !== Phase.DONE && slot.origin === Origin.USER) judgeEnd(slot);
  slots.unlinkAttempt(slot);
  // Its policy may be forgotten now.
  if (slot.policy !== 0) slots.policyOf(slot).uses--;
}

/** What has not been judged by now ended badly, or was nobody's fault; Envoy's details tell. */
function judgeEnd(slot: MeterSlot): void {
  const phase = slot.phase;
  const hasDetails = readProperty(names.PROPERTY_CODE_DETAILS);
  const details = resultPtr();
  const length = hasDetails ? resultSize() : 0;
  if (hasDetails && !VIA_UPSTREAM.equals(details, length)) {
    // The client left, or Envoy itself refused: ext_proc errors, bodies too large, its idle timeout.
    if (TOO_LARGE.equals(details, length)) increment(backendOf(slot).metrics.holdOverflow);
    file(slot, Outcome.NEUTRAL);
    return;
  }
  const isTimeout = isTimedOut(slot, nowMs());
  file(slot, phase === Phase.WAITING && wasNeverSent() ? Outcome.NEUTRAL : Outcome.FAILURE);
  if (phase !== Phase.PASSING && !nameNext(slot, !isTimeout)) nameStop();
}

function wasNeverSent(): bool {
  return !hasText(names.PROPERTY_LOCAL_ADDRESS) && !hasText(names.PROPERTY_TRANSPORT_FAILURE);
}

function hasText(path: Text): bool {
  return readProperty(path) && resultSize() > 0;
}
