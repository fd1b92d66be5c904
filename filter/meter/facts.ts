// Times to first token and money spent: gathered in this VM, and filed with every tick for the price of one update.
import { isSlowFirstToken } from "../breaker/slow-call";
import { nowMs } from "../host/clock";
import { increment, record } from "../host/metrics";
import { Backend, FACTS_ROOM } from "../policy/policy";
import { fileFacts } from "../records";
import { answerOf, backendOf, MeterSlot, Origin, Reading, requestOf } from "./slot";

/** A prompt that is allowed so much more time has its time halved in the trend. */
const SHORT_PROMPT_MS: u64 = 1000;

/** The first token came: whether it was late is judged by its own time, whatever becomes of the answer. */
export function noteFirstToken(slot: MeterSlot): void {
  slot.hasToken = true;
  slot.firstTokenMs = nowMs();
  const took = waitedMs(slot, slot.firstTokenMs);
  note(slot, took, isSlow(slot, took));
}

/**
 * A call that has waited for its first token for as long as a slow one takes is slow, whatever is still to come: a backend that
 * hangs would else be known only when the first caller is given up. Its time is noted once it is known.
 */
export function noteOverdue(slot: MeterSlot): void {
  begin(slot);
  slot.wasSlow = true;
  countCall(slot, true);
}

/** Whether a first token after so long is slow for this call. */
export function isSlow(slot: MeterSlot, tookMs: u64): bool {
  return isSlowFirstToken(backendOf(slot).breaker, tookMs, requestOf(slot).promptTokens);
}

export function waitedMs(slot: MeterSlot, now: u64): u64 {
  return now > slot.tokenClockMs ? now - slot.tokenClockMs : 0;
}

/** No first token came in time. */
export function noteNoToken(slot: MeterSlot, now: u64): void {
  if (slot.hasToken) return;
  slot.hasToken = true;
  note(slot, waitedMs(slot, now), true);
}

/**
 * An answer in time whose first token can't be seen: in a coding, in one piece, or on a path that is not read. It ends a row of slow
 * calls as a token would: or the few that were overdue would be all that is known of such calls.
 */
export function noteUnseenToken(slot: MeterSlot, reading: Reading): void {
  if (requestOf(slot).stream !== 1 || slot.wasSlow) return;
  // Judged at its end, by its time per token.
  if (reading === Reading.JSON && backendOf(slot).slowTokenTimeMs > 0) return;
  begin(slot);
  countCall(slot, false);
}

/**
 * An answer whose tokens came slowly, by its mean time per token. One in one piece has no first token: it is a call of its
 * own here, and only when its usage is known.
 */
export function noteSlowAnswer(slot: MeterSlot): void {
  const tokens = answerOf(slot).completionTokens;
  if (tokens <= 0) return;
  const limitMs = <u64>tokens * backendOf(slot).slowTokenTimeMs;
  const now = nowMs();
  if (slot.reading === Reading.EVENTS) {
    if (!slot.hasToken || slot.wasSlow || now - slot.firstTokenMs <= limitMs) return;
    begin(slot);
    backendOf(slot).facts.slowCalls++;
    increment(backendOf(slot).metrics.slow);
  } else if (!slot.wasSlow) {
    begin(slot);
    countCall(slot, now - slot.startMs > limitMs);
  }
}

/** Hands a backend's facts to its records, and its first tokens to Envoy's histogram, one call into Envoy each. */
export function flushFacts(backend: Backend, now: u64): void {
  const facts = backend.facts;
  if (facts.calls === 0 && facts.slowCalls === 0 && facts.samples === 0 && facts.spend < 1) return;
  fileFacts(backend, now);
  const histogram = backend.metrics.firstToken;
  for (let i = 0; i < facts.samples; i++) record(histogram, unchecked(facts.waits[i]));
  facts.calls = 0;
  facts.slowCalls = 0;
  facts.slowInARow = 0;
  facts.samples = 0;
}

function note(slot: MeterSlot, tookMs: u64, isLate: bool): void {
  if (slot.origin !== Origin.USER) return;
  begin(slot);
  const facts = backendOf(slot).facts;
  facts.waits[facts.samples] = <u32>min<u64>(tookMs, u32.MAX_VALUE);
  facts.firstTokens[facts.samples++] = shortPromptMs(slot, tookMs);
  // Overdue, it was counted while it waited.
  if (slot.wasSlow) return;
  slot.wasSlow = isLate;
  countCall(slot, isLate);
}

function countCall(slot: MeterSlot, isLate: bool): void {
  const backend = backendOf(slot);
  const facts = backend.facts;
  facts.calls++;
  facts.slowInARow = isLate ? facts.slowInARow + 1 : 0;
  if (!isLate) return;
  facts.slowCalls++;
  increment(backend.metrics.slow);
}

/**
 * What the first token of a short prompt would have taken, roughly: or a few callers' long prompts would be a drift. Each token
 * of the prompt is allowed its `slowFirstTokenPerPromptToken`.
 */
function shortPromptMs(slot: MeterSlot, tookMs: u64): u32 {
  const perToken = <u64>backendOf(slot).breaker.slowFirstTokenPerPromptTokenMs;
  const allowed = perToken * max(requestOf(slot).promptTokens, 0);
  return <u32>((min<u64>(tookMs, u32.MAX_VALUE) * SHORT_PROMPT_MS) / (SHORT_PROMPT_MS + allowed));
}

/** Facts are of one generation: those of an earlier one are filed before the first of the next. */
function begin(slot: MeterSlot): void {
  const backend = backendOf(slot);
  const facts = backend.facts;
  if (facts.samples === FACTS_ROOM || facts.generation !== slot.generation) flushFacts(backend, nowMs());
  facts.generation = slot.generation;
}
