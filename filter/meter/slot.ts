import { AnswerReader, resetAnswer } from "../bytes/answer";
import { FACTS_SIZE, isBetweenEvents, loadFacts, saveFacts } from "../bytes/answer-facts";
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

/**
 * One attempt. The request's record, the matcher of body rules, and what is remembered between two events follow in memory. With
 * thousands of live streams its size is what a gateway pays: readers are lent.
 */
@unmanaged
export class MeterSlot extends Slot {
  /** Doubly linked list of live attempts, walked by the tick. */
  next: usize;
  previous: usize;
  policy: usize;
  chain: usize;
  backend: usize;
  /** The reader of its answer; 0 = it has none at the moment. */
  reader: usize;
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
  /** Its reader was given back between two events. */
  hasFacts: bool;
}

const REQUEST_OFFSET: usize = (offsetof<MeterSlot>() + 7) & ~7;
const MATCHER_OFFSET: usize = REQUEST_OFFSET + <usize>((REQUEST_SIZE + 7) & ~7);
const FACTS_OFFSET: usize = MATCHER_OFFSET + <usize>((MATCHER_SIZE + 7) & ~7);

export const meterSlots: SlotPool = new SlotPool(<i32>(FACTS_OFFSET + FACTS_SIZE + 7) & ~7);

const readers: SlotPool = new SlotPool(<i32>(offsetof<AnswerReader>() + 7) & ~7);

export function requestOf(slot: MeterSlot): RequestRecord {
  return changetype<RequestRecord>(changetype<usize>(slot) + REQUEST_OFFSET);
}

export function answerOf(slot: MeterSlot): AnswerReader {
  if (slot.reader === 0) lendReader(slot);
  return changetype<AnswerReader>(slot.reader);
}

function lendReader(slot: MeterSlot): void {
  slot.reader = readers.takeAsLeft();
  const answer = changetype<AnswerReader>(slot.reader);
  resetAnswer(answer, slot.hasFacts);
  if (slot.hasFacts) loadFacts(changetype<usize>(slot) + FACTS_OFFSET, answer);
  slot.hasFacts = false;
}

/** Takes the reader back where nothing is lost by it: between two events, as most streams are at any time. */
export function parkReader(slot: MeterSlot): void {
  if (slot.reader === 0 || !isBetweenEvents(changetype<AnswerReader>(slot.reader))) return;
  saveFacts(changetype<AnswerReader>(slot.reader), changetype<usize>(slot) + FACTS_OFFSET);
  returnReader(slot);
  slot.hasFacts = true;
}

/** The attempt's answer is not read any more. */
export function returnReader(slot: MeterSlot): void {
  if (slot.reader !== 0) readers.give(slot.reader);
  slot.reader = 0;
}

export function matcherOf(slot: MeterSlot): usize {
  return changetype<usize>(slot) + MATCHER_OFFSET;
}

/**
 * Sets from when the backend could have the whole request: neither our own queue nor the caller's upload counts against it
 * (traps.md 9). False where no connection was ready yet, as far as Envoy tells.
 */
export function startTokenClock(slot: MeterSlot): bool {
  slot.tokenClockMs = slot.startMs;
  if (!readProperty(PROPERTY_POOL_READY) || resultSize() !== 8) return false;
  const waited = load<i64>(resultPtr()) / 1_000_000;
  if (waited > 0) slot.tokenClockMs = max(slot.tokenClockMs, slot.queuedMs + waited);
  return true;
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

/** Attempts that are looked at, at most: only failures in a row ask for it, but then each success does. */
const MOST_STEPS: i32 = 64;

/**
 * When the latest attempt at the backend of this one began that is still live in this VM: of a call that is on its way it is not known
 * that it fails. Its own start when there is none; the end of time when that would take too long to find out.
 */
export function latestUnfailedMs(slot: MeterSlot): u64 {
  let at = first;
  for (let steps = 0; at !== 0; steps++) {
    if (steps === MOST_STEPS) return u64.MAX_VALUE;
    const other = changetype<MeterSlot>(at);
    const isLive = other.phase !== Phase.DONE && other.origin === Origin.USER;
    if (isLive && other.backend === slot.backend) return max(slot.startMs, other.startMs);
    at = other.next;
  }
  return slot.startMs;
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
