// The answers the breaker writes itself: always JSON, always with a reason, never a bare status.

import { allocate } from "./host/arena";
import { Level, log } from "./host/log";
import { increment } from "./host/metrics";
import { finishPairs, pairsSize, putPair, putText, startPairs } from "./host/pairs-writer";
import { sendReply } from "./host/stream";
import { decimal, decimalLength, Text } from "./host/text";
import {
  APPLICATION_JSON,
  CONTENT_TYPE,
  HEADER_ATTEMPTS,
  HEADER_BACKEND,
  HEADER_REASON,
  HEADER_TRIED,
  RETRY_AFTER,
} from "./names";
import { Chain } from "./policy/policy";

const EXHAUSTED = Text.of("exhausted");
const SHED = Text.of("shed");
const FAILED = Text.of("failed");
const UNKNOWN_CHAIN = Text.of("unknown_chain");
const UNMARKED = Text.of("no_backend");
const NOT_REWRITTEN = Text.of("not_rewritten");
const EXHAUSTED_DETAILS = Text.of("llm_breaker_exhausted");
const SHED_DETAILS = Text.of("llm_breaker_shed");
const FAILED_DETAILS = Text.of("llm_breaker_failed");
const UNKNOWN_CHAIN_DETAILS = Text.of("llm_breaker_unknown_chain");
const UNMARKED_DETAILS = Text.of("llm_breaker_no_backend");
const NOT_REWRITTEN_DETAILS = Text.of("llm_breaker_not_rewritten");
const UNKNOWN_CHAIN_BODY = Text.of(
  '{"error":{"message":"This route names a chain that the breaker\'s policy does not have.",' +
    '"type":"configuration_error","param":null,"code":"llm_breaker_unknown_chain"}}',
);
const UNMARKED_BODY = Text.of(
  '{"error":{"message":"No backend was named for this request: its route names no chain (metadata llm.breaker, chain), ' +
    'has no gate, or the route\'s map lacks the backend.","type":"configuration_error","param":null,' +
    '"code":"llm_breaker_no_backend"}}',
);
const NOT_REWRITTEN_BODY = Text.of(
  '{"error":{"message":"The request could not be fitted to its backend.","type":"service_unavailable","param":null,' +
    '"code":"llm_breaker_not_rewritten"}}',
);
const FAILED_START = Text.of('{"error":{"message":"No backend could answer: ');
const FAILED_END = Text.of('.","type":"service_unavailable","param":null,"code":"llm_breaker_failed"}}');

const UNAVAILABLE: i32 = 503;

/**
 * No tier may answer: the chain's status, with the shortest remaining wait (1 s at least) as Retry-After.
 * @param isShed some tier would have, if the request could not wait; its queue may be short again at any time
 */
export function replyExhausted(chain: Chain, waitMs: u64, isShed: bool): void {
  increment(isShed ? chain.metrics.shed : chain.metrics.exhausted);
  const seconds = isShed ? 1 : max<u64>(1, (waitMs + 999) / 1000);
  const body = isShed ? chain.shedBody : chain.exhaustedBody;
  const reason = isShed ? SHED : EXHAUSTED;
  const details = isShed ? SHED_DETAILS : EXHAUSTED_DETAILS;
  replyError(chain.exhaustedStatus, reason, details, body.ptr, body.length, seconds);
}

/** What is told of a request that every tier failed. One is enough for a VM: it is filled and sent at once. */
@final
export class FailedReply {
  status: i32 = UNAVAILABLE;
  /** Seconds; -1 = none told. */
  retryAfter: i32 = -1;
  attempts: i32 = 0;
  showsAttempts: bool = false;
  /** Whose answer it is; null when it is nobody's. */
  backend: Text | null = null;
  tried: usize = 0;
  triedLength: i32 = 0;
  /** A backend's own body, or 0. */
  body: usize = 0;
  bodyLength: i32 = 0;

  start(chain: Chain, attempts: i32): void {
    this.status = UNAVAILABLE;
    this.retryAfter = -1;
    this.attempts = attempts;
    this.showsAttempts = chain.answerHeaders;
    this.backend = null;
    this.tried = 0;
    this.triedLength = 0;
    this.body = 0;
    this.bodyLength = 0;
  }
}

export function replyFailed(failed: FailedReply): void {
  const isOwn = failed.body === 0;
  if (isOwn) writeFailedBody(failed);
  startPairs();
  putText(CONTENT_TYPE, APPLICATION_JSON);
  if (isOwn) putText(HEADER_REASON, FAILED);
  // Ours always tell when to come back; a backend's own answer only if it did.
  if (isOwn || failed.retryAfter >= 0) putNumber(RETRY_AFTER, <u64>max(1, failed.retryAfter));
  if (failed.showsAttempts) {
    const backend = failed.backend;
    if (backend) putText(HEADER_BACKEND, backend);
    putNumber(HEADER_ATTEMPTS, failed.attempts);
    if (failed.triedLength > 0) putPair(HEADER_TRIED, failed.tried, failed.triedLength);
  }
  reply(failed.status, FAILED_DETAILS, failed.body, failed.bodyLength);
}

function writeFailedBody(failed: FailedReply): void {
  const size = FAILED_START.length + failed.triedLength + FAILED_END.length;
  const at = allocate(size);
  if (at === 0) return;
  memory.copy(at, FAILED_START.ptr, FAILED_START.length);
  memory.copy(at + FAILED_START.length, failed.tried, failed.triedLength);
  memory.copy(at + FAILED_START.length + failed.triedLength, FAILED_END.ptr, FAILED_END.length);
  failed.body = at;
  failed.bodyLength = size;
}

let hasToldOfChain: bool = false;

export function replyUnknownChain(): void {
  if (!hasToldOfChain) log(Level.ERROR, "llm.breaker: a route names a chain that the policy does not have");
  hasToldOfChain = true;
  replyUnavailable(UNKNOWN_CHAIN, UNKNOWN_CHAIN_DETAILS, UNKNOWN_CHAIN_BODY);
}

let hasToldOfMark: bool = false;

/** A request came to the stop cluster without the gate's mark, or without any attempt. */
export function replyUnmarked(): void {
  if (!hasToldOfMark)
    log(Level.ERROR, "llm.breaker: a request was ended: its route names no chain, or a backend off its map");
  hasToldOfMark = true;
  replyUnavailable(UNMARKED, UNMARKED_DETAILS, UNMARKED_BODY);
}

/** The service is away, and the request's body, as it is, is none for this backend. */
export function replyNotRewritten(): void {
  replyUnavailable(NOT_REWRITTEN, NOT_REWRITTEN_DETAILS, NOT_REWRITTEN_BODY);
}

function replyUnavailable(reason: Text, details: Text, body: Text): void {
  replyError(UNAVAILABLE, reason, details, body.ptr, body.length, 1);
}

/**
 * An error of ours that no backend had a part in.
 * @param retryAfter seconds; 0 = trying again will not help
 */
export function replyError(
  status: u32,
  reason: Text,
  details: Text,
  body: usize,
  bodyLength: i32,
  retryAfter: u64,
): void {
  startPairs();
  putText(CONTENT_TYPE, APPLICATION_JSON);
  putText(HEADER_REASON, reason);
  if (retryAfter > 0) putNumber(RETRY_AFTER, retryAfter);
  reply(status, details, body, bodyLength);
}

function putNumber(name: Text, value: u64): void {
  const digits = decimal(value);
  if (digits !== 0) putPair(name, digits, decimalLength());
}

function reply(status: u32, details: Text, body: usize, bodyLength: i32): void {
  const headers = finishPairs();
  sendReply(status, details, body, bodyLength, headers, pairsSize());
}
