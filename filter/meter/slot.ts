import { AnswerReader } from "../bytes/answer";
import { MATCHER_SIZE } from "../bytes/body-rules";
import { Slot, SlotPool } from "../host/contexts";
import { readProperty } from "../host/properties";
import { resultPtr, resultSize } from "../host/result";
import { PROPERTY_POOL_READY } from "../names";
import { Backend, Chain, Policy } from "../policy/policy";
import { REQUEST_SIZE, RequestRecord } from "../request-record";

/** Where an attempt comes from, and so whether it is evidence. */
export enum Origin {
  /** Neither the gate's mark nor a probe's nonce: a mirror, say. Nobody's evidence. */
  UNMARKED,
  USER,
  PROBE,
}

export enum Phase {
  /** No response headers yet. */
  WAITING,
  /** Headers and bytes are kept back until the answer is worth passing on. */
  HOLDING,
  /** Bytes go to the client as they come. */
  PASSING,
  /** Judged: nothing that follows matters. */
  DONE,
}

export enum Reading {
  NONE,
  JSON,
  EVENTS,
  /** The body of an error status: only its message is wanted. */
  ERROR,
}

/** One attempt. The request's record, the answer's reader and the matcher of body rules follow in memory. */
@unmanaged
export class MeterSlot extends Slot {
  /** Doubly linked list of live attempts, walked by the tick. */
  next: usize;
  previous: usize;
  policy: usize;
  chain: usize;
  backend: usize;
  /** The facts to which its answer's load is added; 0 = the engine was not asked for it. */
  load: usize;
  /** When the attempt came to the backend's cluster. */
  queuedMs: u64;
  /** The same, or when the caller's last byte came after it. */
  startMs: u64;
  /** From when the wait for a first token counts: sent, on a ready connection. */
  tokenClockMs: u64;
  firstTokenMs: u64;
  lastByteMs: u64;
  renewedMs: u64;
  generation: u32;
  permit: u32;
  /** 0 = no response headers yet. */
  status: i32;
  /** Seconds of Retry-After, or below 0 what response-headers says of there being none. */
  retryAfter: i32;
  /** Bytes of the held body that were read. */
  scanned: i32;
  /**
   * Bytes of the answer that its content-length still announces; below 0 = none did. The last ones are judged with the whole:
   * once they are passed on, the client holds a complete answer.
   */
  awaited: i64;
  passedBytes: i64;
  /** Bytes passed on that the client may not have read yet, as far as can be told here. */
  backlog: i64;
  origin: Origin;
  phase: Phase;
  reading: Reading;
  tier: u8;
  /** 1 = the request's first attempt. */
  attempt: u8;
  hasOwnCredentials: bool;
  /** Its cluster's metadata ask for another body: the guard stands behind the rewrite. */
  isRewritten: bool;
  /** A chat with a backend of another dialect: only a translated answer can be passed on. */
  isTranslated: bool;
  /** The whole request was given to Envoy's upstream side. */
  isSent: bool;
  /** A first token, or its absence, was noted. */
  hasToken: bool;
  wasSlow: bool;
  /** The answer can't be looked into: it is in a coding, or too long to be held. */
  isOpaque: bool;
}

const REQUEST_OFFSET: usize = (offsetof<MeterSlot>() + 7) & ~7;
const ANSWER_OFFSET: usize = REQUEST_OFFSET + <usize>((REQUEST_SIZE + 7) & ~7);

const MATCHER_OFFSET: usize = (ANSWER_OFFSET + offsetof<AnswerReader>() + 7) & ~7;

export const meterSlots: SlotPool = new SlotPool(<i32>(MATCHER_OFFSET + MATCHER_SIZE + 15) & ~15);

export function requestOf(slot: MeterSlot): RequestRecord {
  return changetype<RequestRecord>(changetype<usize>(slot) + REQUEST_OFFSET);
}

export function answerOf(slot: MeterSlot): AnswerReader {
  return changetype<AnswerReader>(changetype<usize>(slot) + ANSWER_OFFSET);
}

export function matcherOf(slot: MeterSlot): usize {
  return changetype<usize>(slot) + MATCHER_OFFSET;
}

/**
 * Sets from when the backend could have the whole request: neither our own queue nor the caller's upload counts against it
 * (traps.md 9).
 */
export function startTokenClock(slot: MeterSlot): void {
  slot.tokenClockMs = slot.startMs;
  if (!readProperty(PROPERTY_POOL_READY) || resultSize() !== 8) return;
  const waited = load<i64>(resultPtr()) / 1_000_000;
  if (waited > 0) slot.tokenClockMs = max(slot.tokenClockMs, slot.queuedMs + waited);
}

// Policies are pinned while attempts point into them (Policy.uses), so these pointers stay good.

export function policyOf(slot: MeterSlot): Policy {
  return changetype<Policy>(slot.policy);
}

export function chainOf(slot: MeterSlot): Chain {
  return changetype<Chain>(slot.chain);
}

export function backendOf(slot: MeterSlot): Backend {
  return changetype<Backend>(slot.backend);
}

let first: usize = 0;

export function firstAttempt(): usize {
  return first;
}

export function linkAttempt(slot: MeterSlot): void {
  const at = changetype<usize>(slot);
  slot.next = first;
  slot.previous = 0;
  if (first !== 0) changetype<MeterSlot>(first).previous = at;
  first = at;
}

export function unlinkAttempt(slot: MeterSlot): void {
  if (slot.previous !== 0) changetype<MeterSlot>(slot.previous).next = slot.next;
  else if (first === changetype<usize>(slot)) first = slot.next;
  if (slot.next !== 0) changetype<MeterSlot>(slot.next).previous = slot.previous;
  slot.next = 0;
  slot.previous = 0;
}
