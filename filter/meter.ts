// The second half of the story, once per attempt, at the backend's cluster: starts the attempt from the caller's original
// request, keeps the answer back until it is worth passing on, and hands its end to be judged.

import { Outcome } from "./breaker/outcome";
import { endAnswer, feedAnswer, resetAnswer } from "./bytes/answer";
import { feedMatcher, resetMatcher } from "./bytes/body-rules";
import { endCall } from "./calls";
import { mark, release as releaseArena } from "./host/arena";
import { Buffer, readBuffer, WINDOW } from "./host/buffers";
import { nowMs } from "./host/clock";
import { increment } from "./host/metrics";
import { resultPtr, resultSize } from "./host/result";
import { Action, closeResponse } from "./host/stream";
import { ClusterRules } from "./meter/cluster";
import { concludeBroken, concludeDiverted, concludeError, decorate, judgeEnd } from "./meter/conclude";
import { wasDiverted } from "./meter/diverted";
import { noteFirstToken, noteUnseenToken } from "./meter/facts";
import { file } from "./meter/file";
import { answerAtStop } from "./meter/last-answer";
import { noteLoad } from "./meter/load";
import { recentMs } from "./meter/recent";
import * as head from "./meter/response-headers";
import { Content, readResponseHeaders } from "./meter/response-headers";
import * as slots from "./meter/slot";
import {
  answerOf,
  backendOf,
  chainOf,
  MeterSlot,
  matcherOf,
  Origin,
  Phase,
  Reading,
  requestOf,
} from "./meter/slot";
import { startAttempt } from "./meter/start";
import { endFailure, endOutcome, eventOutcome, isBadStatus } from "./meter/verdict";
import { Failure } from "./policy/failure";
import { Commit } from "./policy/policy";
import { removeForgedTrailers, removeSecretTrailers } from "./trailers";

/** Held before the first token; more than this without one goes on unheld, never as an error. */
const HOLD_BEFORE_TOKEN: i32 = 1 << 16;
/** Held of a whole stream when the chain commits only complete answers. */
const HOLD_COMPLETE: i32 = 1 << 20;
const HOLD_ERROR: i32 = 1 << 16;
/** What any client is taken to read: a stream of tokens is slower than that, and never a backlog. */
const LEAST_READ_PER_MS: i64 = 16;
const SWITCHING_PROTOCOLS: i32 = 101;
const OK: i32 = 200;

/** @param configured what this meter was told of its cluster, if it was */
export function onRequestHeaders(slot: MeterSlot, configured: ClusterRules | null, isEnd: bool): Action {
  slot.isSent = isEnd;
  if (startAttempt(slot, configured)) return Action.CONTINUE;
  answerAtStop(slot);
  return Action.PAUSE;
}

/** The caller's last byte: until then a silent or broken backend may only have waited for the caller. */
export function onRequestEnd(slot: MeterSlot): void {
  slot.isSent = true;
  if (slot.origin === Origin.USER && !chainOf(slot).holds) slot.startMs = nowMs();
}

export function onRequestTrailers(slot: MeterSlot): void {
  if (slot.hasOwnCredentials) removeSecretTrailers();
  onRequestEnd(slot);
}

export function onResponseHeaders(slot: MeterSlot, isEnd: bool): Action {
  readResponseHeaders();
  slot.status = head.status;
  if (slot.load !== 0) noteLoad(slot);
  if (slot.origin !== Origin.USER) return Action.CONTINUE;
  if (slot.isRewritten && wasDiverted(slot)) return concludeDiverted(slot);
  if (head.status === SWITCHING_PROTOCOLS) {
    // An upgraded connection's end says nothing about the backend.
    file(slot, Outcome.NEUTRAL, Failure.NONE);
    return Action.CONTINUE;
  }
  // Envoy shows no interim response: a status that is none is no answer either.
  if (head.status < 200) return concludeBroken(slot, Outcome.FAILURE, Failure.CUT);
  noteBytes(slot);
  slot.retryAfter = head.retryAfter;
  slot.awaited = head.contentLength;
  const hasBody = !isEnd && !requestOf(slot).isHead;
  if (head.status >= 300) {
    const isLegible = head.content === Content.JSON || backendOf(slot).rules.body !== null;
    const mayTell = isBadStatus(head.status) || (head.status >= 400 && isLegible);
    const canRead = hasBody && !head.isCoded && head.contentLength <= HOLD_ERROR;
    slot.isOpaque = hasBody && !canRead && (head.isCoded || head.content === Content.JSON);
    return mayTell && canRead ? hold(slot, Reading.ERROR) : concludeError(slot);
  }
  // Whoever should have translated it is gone.
  if (slot.isTranslated && !head.isAdapted) return concludeDiverted(slot);
  if (isNoAnswer(slot, hasBody)) return concludeBroken(slot, Outcome.FAILURE, Failure.CUT);
  if (!hasBody) {
    decorate(slot);
    file(slot, Outcome.SUCCESS, Failure.NONE);
    return Action.CONTINUE;
  }
  return startReading(slot);
}

/** A chat is not answered by nothing, nor by a page of some proxy's. */
function isNoAnswer(slot: MeterSlot, hasBody: bool): bool {
  const request = requestOf(slot);
  if (head.status !== OK || !request.isChat || request.isHead) return false;
  return !hasBody || head.content === Content.PAGE;
}

/** A 2xx with a body: what can be read of it, and whether it is held meanwhile. */
function startReading(slot: MeterSlot): Action {
  const chain = chainOf(slot);
  const isChat = requestOf(slot).isChat;
  const isShort = head.contentLength <= chain.holdLimit;
  let reading = Reading.NONE;
  if (!head.isCoded && head.status === OK && requestOf(slot).isPost) {
    if (head.content === Content.EVENTS && isChat) reading = Reading.EVENTS;
    else if (head.content === Content.JSON && (isShort || isChat)) reading = Reading.JSON;
  }
  if (reading === Reading.EVENTS) slots.startTokenClock(slot);
  else noteUnseenToken(slot, reading);
  if (reading !== Reading.NONE && chain.holds && (isShort || reading === Reading.EVENTS))
    return hold(slot, reading);
  slot.reading = reading;
  if (reading !== Reading.NONE) resetReaders(slot);
  return pass(slot);
}

function hold(slot: MeterSlot, reading: Reading): Action {
  slot.reading = reading;
  slot.phase = Phase.HOLDING;
  resetReaders(slot);
  return Action.PAUSE;
}

function resetReaders(slot: MeterSlot): void {
  resetAnswer(answerOf(slot), slot.reading === Reading.EVENTS);
  if (backendOf(slot).rules.body) resetMatcher(matcherOf(slot));
}

export function onResponseBody(slot: MeterSlot, size: i32, isEnd: bool): Action {
  const action = onPiece(slot, size, isEnd);
  slots.parkReader(slot);
  return action;
}

function onPiece(slot: MeterSlot, size: i32, isEnd: bool): Action {
  if (slot.phase === Phase.HOLDING) return onHeldBody(slot, size, isEnd);
  if (slot.phase !== Phase.PASSING) return Action.CONTINUE;
  const before = slot.lastByteMs;
  noteBytes(slot);
  slot.backlog = max<i64>(0, slot.backlog - <i64>(slot.lastByteMs - before) * LEAST_READ_PER_MS) + size;
  slot.passedBytes += size;
  slot.awaited -= size;
  if (slot.reading !== Reading.NONE) read(slot, 0, size);
  return isEnd || slot.awaited === 0 ? onAnswerEnd(slot) : Action.CONTINUE;
}

/** The last tick may have been before the attempt, and a VM's first one is still to come. */
function noteBytes(slot: MeterSlot): void {
  slot.lastByteMs = max(recentMs(), slot.startMs);
}

/** While held the buffer grows: read what is new, then decide whether to let go. */
function onHeldBody(slot: MeterSlot, size: i32, isEnd: bool): Action {
  noteBytes(slot);
  if (size > slot.scanned) {
    read(slot, slot.scanned, size);
    slot.awaited -= size - slot.scanned;
    slot.scanned = size;
  }
  if (isEnd || slot.awaited === 0) return onAnswerEnd(slot);
  if (slot.reading === Reading.ERROR) {
    if (size <= HOLD_ERROR) return Action.PAUSE;
    slot.isOpaque = !answerOf(slot).plain;
    return concludeError(slot);
  }
  const chain = chainOf(slot);
  if (slot.reading === Reading.JSON) return size > chain.holdLimit ? overflow(slot) : Action.PAUSE;
  const outcome = eventOutcome(slot);
  if (outcome > Outcome.SUCCESS) return concludeBroken(slot, outcome, Failure.ERROR);
  if (chain.commit === Commit.COMPLETE) return size > HOLD_COMPLETE ? overflow(slot) : Action.PAUSE;
  if (slot.hasToken) return pass(slot);
  return size > HOLD_BEFORE_TOKEN ? overflow(slot) : Action.PAUSE;
}

/** Trailers end an answer without an end of stream in any body callback. */
export function onResponseTrailers(slot: MeterSlot): Action {
  removeForgedTrailers();
  const isOpen = slot.phase === Phase.HOLDING || slot.phase === Phase.PASSING;
  return isOpen ? onAnswerEnd(slot) : Action.CONTINUE;
}

function onAnswerEnd(slot: MeterSlot): Action {
  if (slot.reading !== Reading.NONE) endAnswer(answerOf(slot));
  if (slot.reading === Reading.ERROR) return concludeError(slot);
  const outcome = endOutcome(slot);
  const failure = endFailure(slot, outcome);
  const isHeld = slot.phase === Phase.HOLDING;
  if (isHeld && outcome !== Outcome.SUCCESS) return concludeBroken(slot, outcome, failure);
  if (isHeld) decorate(slot);
  file(slot, outcome, failure);
  if (isHeld || failure !== Failure.CUT) return Action.CONTINUE;
  // It stopped in the middle, but ended like a whole answer: the client must not take it for one.
  closeResponse();
  return Action.PAUSE;
}

function read(slot: MeterSlot, from: i32, to: i32): void {
  const answer = answerOf(slot);
  const rules = backendOf(slot).rules.body;
  while (from < to) {
    const top = mark();
    const isRead = readBuffer(Buffer.RESPONSE_BODY, from, min(to - from, WINDOW));
    const length = isRead ? resultSize() : 0;
    if (length > 0) {
      feedAnswer(answer, resultPtr(), length);
      if (rules) feedMatcher(rules, matcherOf(slot), resultPtr(), length);
    }
    releaseArena(top);
    if (length <= 0) break;
    from += length;
  }
  if (slot.reading === Reading.EVENTS && answer.firstToken && !slot.hasToken) noteFirstToken(slot);
}

/** From here on the client's bytes and their timing are the upstream's own. */
function pass(slot: MeterSlot): Action {
  decorate(slot);
  // What was held goes out now.
  slot.backlog = slot.scanned;
  slot.passedBytes = slot.scanned;
  slot.phase = Phase.PASSING;
  return Action.CONTINUE;
}

function overflow(slot: MeterSlot): Action {
  increment(backendOf(slot).metrics.holdOverflow);
  return pass(slot);
}

/** The attempt is over, and its slot with it. */
export function onDone(slot: MeterSlot): void {
  if (slot.origin === Origin.USER) {
    if (slot.phase !== Phase.DONE) judgeEnd(slot);
    endCall(backendOf(slot), recentMs());
  }
  slots.returnReader(slot);
  slots.unlinkAttempt(slot);
  // Its policy may be forgotten now.
  if (slot.policy !== 0) slots.policyOf(slot).uses--;
}
