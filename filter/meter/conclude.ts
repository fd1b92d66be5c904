// How an attempt ends: filed, and then passed on, or tried elsewhere, or answered by the most telling error there was.
import { Outcome } from "../breaker/outcome";
import { ErrorKind } from "../bytes/error-kind";
import { nowMs } from "../host/clock";
import { canRetryHeld } from "../host/envoy-version";
import { addHeader, HeaderMap, removeHeader, setHeader } from "../host/headers";
import { Level, log } from "../host/log";
import { increment } from "../host/metrics";
import { readProperty } from "../host/properties";
import { resultPtr, resultSize } from "../host/result";
import { Action } from "../host/stream";
import { decimal, decimalLength, Text } from "../host/text";
import * as names from "../names";
import { Failure } from "../policy/failure";
import { wasDiverted } from "./diverted";
import { noteNoToken } from "./facts";
import { file } from "./file";
import { answerFailed, isOutdone, isTelling, keepAnswer } from "./last-answer";
import { nameLarger, nameNext, nameStop } from "./next-tier";
import { answerOf, backendOf, chainOf, MeterSlot, Phase, Reading, requestOf, startTokenClock } from "./slot";
import { triedLength, triedText, tryCode, UNREWRITTEN } from "./tried";
import { errorStatusOutcome, failureOf, isBadStatus, isDenied, isModerated } from "./verdict";

const MAX_PATIENCE_SECONDS: i32 = 3;
const NOT_FOUND: i32 = 404;
/** A timer of Envoy's runs from when its event loop last woke, which a busy worker did a while ago. */
const TIMER_SLACK_MS: u32 = 250;

const BAD_REQUEST = Text.of("400");
const BAD_GATEWAY = Text.of("502");
const VIA_UPSTREAM = Text.of("via_upstream");
const TOO_LARGE = Text.of("response_payload_too_large");

/** An error status, with or without a message: a fault is the next tier's turn, else the caller gets this very answer. */
export function concludeError(slot: MeterSlot): Action {
  const outcome = errorStatusOutcome(slot);
  const failure = failureOf(outcome, Failure.STATUS);
  file(slot, outcome, failure);
  const isSetUpFault = slot.tier > 0 && isSetUp(slot);
  const isPatient = outcome === Outcome.BACKPRESSURE && isShortWait(slot);
  const mayStay = isPatient || (outcome === Outcome.FAILURE && !isDenied(slot.status));
  if (isSetUpFault) warnOfSetUp(slot);
  const mayRetry = slot.reading === Reading.NONE || canRetryHeld();
  if (mayRetry && moveOn(slot, outcome, mayStay, isSetUpFault)) {
    if (!isSetUpFault) keepAnswer(slot);
    // Only a second try of the same backend waits as it was told to.
    if (isPatient && requestOf(slot).tier === slot.tier) askForRetry();
    else askForNextTier();
    return Action.CONTINUE;
  }
  const isOurs = isSetUpFault || (isBadStatus(slot.status) && (!isReadable(slot) || isOutdone(slot.status)));
  if (isOurs && canStop(slot)) stop(slot);
  else decorate(slot);
  return Action.CONTINUE;
}

/** Names who is asked next, if anybody. What is wrong with the request itself is wrong everywhere, but for its length. */
function moveOn(slot: MeterSlot, outcome: i32, mayStay: bool, isSetUpFault: bool): bool {
  const code = tryCode(slot.status, Failure.STATUS);
  const isRefusal = outcome === Outcome.NEUTRAL || outcome === Outcome.SUCCESS;
  if (!isRefusal || isSetUpFault) return nameNext(slot, code, mayStay);
  return isTooLong(slot) && nameLarger(slot, code);
}

function isTooLong(slot: MeterSlot): bool {
  const answer = answerOf(slot);
  const isError = slot.reading === Reading.ERROR || (slot.reading !== Reading.NONE && answer.errorSeen);
  return isError && answer.errorKind === ErrorKind.CONTEXT_LENGTH;
}

/**
 * A fallback that rejects our key, our path or our model's name: no answer for the caller, who knows nothing of it. A status
 * that an operator has spoken for is what the policy says.
 */
function isSetUp(slot: MeterSlot): bool {
  if (isModerated(slot) || backendOf(slot).rules.ofStatus(slot.status) >= 0) return false;
  if (isDenied(slot.status) || slot.status === NOT_FOUND) return true;
  const isRead = slot.reading === Reading.ERROR && slot.status >= 400 && slot.status < 500;
  return isRead && answerOf(slot).errorKind === ErrorKind.MODEL_NOT_FOUND;
}

/** An error that its reader can make something of: JSON, or one that nobody here could look into. */
function isReadable(slot: MeterSlot): bool {
  return isTelling(slot) || requestOf(slot).isHead || slot.isOpaque;
}

function isShortWait(slot: MeterSlot): bool {
  return slot.retryAfter >= 0 && slot.retryAfter <= MAX_PATIENCE_SECONDS;
}

/** A 200 that is none, still held: seen by Envoy's outlier detection as a 502, or as a 400 when it refuses the request. */
export function concludeBroken(slot: MeterSlot, outcome: i32, plain: Failure): Action {
  const failure = failureOf(outcome, plain);
  file(slot, outcome, failure);
  const code = tryCode(slot.status, failure);
  const isRefusal = outcome === Outcome.NEUTRAL;
  const isNamed = isRefusal ? isTooLong(slot) && nameLarger(slot, code) : nameNext(slot, code, false);
  // The last one's own error is passed on as it came. Half an answer is none.
  if (!isNamed && (failure !== Failure.CUT || !canStop(slot))) {
    decorate(slot);
    return Action.CONTINUE;
  }
  const status = isRefusal ? BAD_REQUEST : BAD_GATEWAY;
  setHeader(HeaderMap.RESPONSE, names.STATUS, status.ptr, status.length);
  if (isNamed) askForNextTier();
  else stop(slot);
  return Action.CONTINUE;
}

/**
 * Ends a held attempt by an answer that only makes Envoy try the next tier or, when none is left, the stop cluster. False when
 * the caller was answered already.
 */
export function concludeLate(slot: MeterSlot, failure: Failure, status: Text): bool {
  file(slot, Outcome.FAILURE, failure);
  const isNamed = nameNext(slot, tryCode(0, failure), false);
  if (!canRetryHeld()) {
    answerFailed(requestOf(slot), chainOf(slot));
    return false;
  }
  if (!isNamed) nameStop(slot);
  setHeader(HeaderMap.RESPONSE, names.STATUS, status.ptr, status.length);
  askForNextTier();
  return true;
}

/**
 * The service failed the attempt, whatever the backend has answered. With no tier left, and no retry to end at the stop cluster
 * by, the answer is ours at once: what came is an answer to nothing that the caller asked.
 */
export function concludeDiverted(slot: MeterSlot): Action {
  file(slot, Outcome.NEUTRAL, Failure.NONE);
  if (nameNext(slot, UNREWRITTEN, false)) askForNextTier();
  else if (canStop(slot)) stop(slot);
  else {
    answerFailed(requestOf(slot), chainOf(slot));
    return Action.PAUSE;
  }
  return Action.CONTINUE;
}

/** What has not been judged by its end ended badly, or was nobody's fault; Envoy's details tell. */
export function judgeEnd(slot: MeterSlot): void {
  const hasDetails = readProperty(names.PROPERTY_CODE_DETAILS);
  const isUpstreams = hasDetails && VIA_UPSTREAM.equals(resultPtr(), resultSize());
  // A first attempt without headers has no details of its own: those of an answer are another's, which won by hedging.
  const isLoser = isUpstreams && slot.phase === Phase.WAITING && slot.attempt === 1;
  if (hasDetails && (!isUpstreams || isLoser)) {
    // The client left, or Envoy itself refused: ext_proc errors, bodies too large, its idle timeout.
    if (TOO_LARGE.equals(resultPtr(), resultSize())) increment(backendOf(slot).metrics.holdOverflow);
    file(slot, Outcome.NEUTRAL, Failure.NONE);
    return;
  }
  const phase = slot.phase;
  if (phase === Phase.WAITING && wasDiverted(slot)) {
    file(slot, Outcome.NEUTRAL, Failure.NONE);
    if (!nameNext(slot, UNREWRITTEN, false)) nameStop(slot);
    return;
  }
  const failure = endWithoutAnswer(slot, phase);
  const isNobodys = failure === Failure.NONE;
  file(slot, isNobodys ? Outcome.NEUTRAL : Outcome.FAILURE, failure);
  if (phase === Phase.PASSING) return;
  const mayStay = failure !== Failure.TIMEOUT;
  if (!nameNext(slot, tryCode(0, isNobodys ? Failure.RESET : failure), mayStay)) nameStop(slot);
}

/** Why there was no answer, or no whole one; NONE when it was nobody's fault. */
function endWithoutAnswer(slot: MeterSlot, phase: Phase): Failure {
  if (phase === Phase.PASSING) return Failure.CUT;
  const now = nowMs();
  if (phase === Phase.WAITING) {
    if (hasText(names.PROPERTY_TRANSPORT_FAILURE)) return Failure.CONNECT;
    // Never sent, or not yet wholly: our own queue's end, or a server that tired of a slow upload.
    if (!hasText(names.PROPERTY_LOCAL_ADDRESS) || !slot.isSent) return Failure.NONE;
    startTokenClock(slot);
  }
  if (!isTimedOut(slot, now)) return phase === Phase.WAITING ? Failure.RESET : Failure.CUT;
  if (requestOf(slot).stream === 1) noteNoToken(slot, now);
  return Failure.TIMEOUT;
}

/** Whether an attempt that ended without an answer was cut by Envoy's per-try timeout: only the clock can tell. */
function isTimedOut(slot: MeterSlot, now: u64): bool {
  const set = requestOf(slot).perTryMs;
  const limitMs = set > 0 ? set : chainOf(slot).answerTimeoutMs;
  return now + min(TIMER_SLACK_MS, limitMs / 4) >= max(slot.tokenClockMs, slot.startMs) + limitMs;
}

function hasText(path: Text): bool {
  return readProperty(path) && resultSize() > 0;
}

/** A retry can end at the stop cluster: there are retries, and a held answer may be one's reason. */
function canStop(slot: MeterSlot): bool {
  return chainOf(slot).holds && canRetryHeld();
}

function stop(slot: MeterSlot): void {
  nameStop(slot);
  askForNextTier();
}

/** On the way to another tier Retry-After would make Envoy wait before it. */
function askForNextTier(): void {
  removeHeader(HeaderMap.RESPONSE, names.RETRY_AFTER);
  askForRetry();
}

function askForRetry(): void {
  setHeader(HeaderMap.RESPONSE, names.HEADER_RETRY, names.ONE.ptr, names.ONE.length);
}

/** Tells the caller who answered, at which attempt, and what was tried before. */
export function decorate(slot: MeterSlot): void {
  if (!chainOf(slot).answerHeaders) return;
  const alias = backendOf(slot).aliasText;
  addHeader(HeaderMap.RESPONSE, names.HEADER_BACKEND, alias.ptr, alias.length);
  const value = decimal(slot.attempt);
  if (value !== 0) addHeader(HeaderMap.RESPONSE, names.HEADER_ATTEMPTS, value, decimalLength());
  if (requestOf(slot).failedAttempts === 0) return;
  const tried = triedText(requestOf(slot), chainOf(slot));
  if (tried !== 0) addHeader(HeaderMap.RESPONSE, names.HEADER_TRIED, tried, triedLength());
}

/** A set-up fault is told at most once a minute and VM: every request that falls back would repeat it. */
let warnedMs: u64 = 0;

function warnOfSetUp(slot: MeterSlot): void {
  const now = nowMs();
  if (warnedMs !== 0 && now - warnedMs < 60000) return;
  warnedMs = now;
  log(
    Level.ERROR,
    "llm.breaker: fallback " +
      backendOf(slot).alias +
      " refuses what it is sent with status " +
      slot.status.toString() +
      ": check its credentials, path and model",
  );
}
