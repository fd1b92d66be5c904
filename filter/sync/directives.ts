// Turns an answer of the service into what the process goes by: moves of records, and one value for each backend in shared data.
import { ProtoReader } from "../bytes/proto-reader";
import { mark, release } from "../host/arena";
import { MAX_TRIES, replaceShared } from "../host/shared-data";
import { Backend, Policy } from "../policy/policy";
import { applyMove, restoreBackend } from "../records";
import { hear, heard, move, summary } from "./heard";
import { wholeLength } from "./process";
import { MAX_TEXT, newTold, readTold, Told, wasThere } from "./told";

const DIRECTIVE: u32 = 2;
/** As many as reports that a request has at most. */
const MOST_DIRECTIVES: i32 = 512;

const answer = new ProtoReader();

/** Of the answer that {@link isAnswer} has looked at. */
export let answerSequence: u64 = 0;
export let answerNextMs: u32 = 0;

/** Whether the bytes are a SyncResponse, to the last of its messages. Changes nothing. */
export function isAnswer(ptr: usize, size: i32): bool {
  answerSequence = 0;
  answerNextMs = 0;
  answer.open(ptr, size);
  while (answer.next()) {
    if (answer.isNumber) {
      if (answer.field === 1) answerSequence = answer.value;
      else if (answer.field === 3) answerNextMs = answer.small;
    } else if (answer.isBytes && answer.field === DIRECTIVE) {
      if (!hear(answer.ptr, answer.length)) return false;
    }
  }
  return !answer.isBroken;
}

/**
 * Does what an answer says, which {@link isAnswer} has approved of. Names of no backend of the policy are passed over; so is what
 * comes behind {@link MOST_DIRECTIVES}: this worker's requests wait meanwhile.
 * @param askedMs when the request was sent: what was told later stays
 */
export function follow(policy: Policy, ptr: usize, size: i32, askedMs: u64, now: u64): void {
  let left = MOST_DIRECTIVES;
  answer.open(ptr, size);
  while (left > 0 && answer.next()) {
    if (!answer.isBytes || answer.field !== DIRECTIVE || !hear(answer.ptr, answer.length)) continue;
    const backend = policy.findBackend(heard.name, heard.nameLength);
    if (!backend) continue;
    left--;
    const top = mark();
    if (heard.hasSummary) restoreBackend(backend, now, summary);
    if (heard.hasMove) applyMove(backend, now, move);
    tell(backend, askedMs, now);
    release(top);
  }
}

function tell(backend: Backend, askedMs: u64, now: u64): void {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = readTold(backend);
    const isThere = wasThere();
    if (before.askedMs > askedMs) return;
    const next = withOverride(before, now);
    if (!next) return;
    next.toldMs = now;
    next.askedMs = askedMs;
    next.acknowledged = heard.acknowledged;
    next.loggedVersion = before.loggedVersion;
    putSignals(next);
    // From when it was asked for: a lease ends on the way of an answer, too.
    next.mayProbeUntilMs = askedMs + heard.mayProbeMs;
    next.isGrouped = heard.isGrouped ? 1 : 0;
    next.rampShare = heard.rampShare;
    if (replaceShared(backend.directiveKey, changetype<usize>(next), next.size, isThere)) return;
  }
}

function putSignals(next: Told): void {
  next.hasSignals = heard.hasSignals ? 1 : 0;
  next.isFresh = heard.isFresh ? 1 : 0;
  next.kvCacheUse = heard.kvCacheUse;
  next.isWhole = heard.isWhole ? 1 : 0;
  next.waiting = heard.waiting;
  next.isQueueLong = heard.isQueueLong ? 1 : 0;
}

/** A new value with the operator's word of the highest version: the service's, or the one that the process has kept. */
function withOverride(before: Told, now: u64): Told | null {
  const isKept = before.isOverridden(now);
  const isNewer = !isKept || heard.overrideVersion >= before.overrideVersion;
  if (heard.hasOverride && isNewer && heard.remainingMs > 0) return withHeardOverride(now);
  return isKept ? withKeptOverride(before) : newTold(0, 0);
}

function withHeardOverride(now: u64): Told | null {
  const whoLength = wholeLength(heard.who, heard.whoLength, MAX_TEXT);
  const whyLength = wholeLength(heard.why, heard.whyLength, MAX_TEXT);
  const next = newTold(whoLength, whyLength);
  if (!next) return null;
  next.mode = heard.mode;
  next.isWithdrawn = heard.isWithdrawn ? 1 : 0;
  next.overrideVersion = heard.overrideVersion;
  next.overrideUntilMs = now + heard.remainingMs;
  memory.copy(next.who, heard.who, whoLength);
  memory.copy(next.why, heard.why, whyLength);
  return next;
}

function withKeptOverride(before: Told): Told | null {
  const next = newTold(before.whoLength, before.whyLength);
  if (!next) return null;
  next.mode = before.mode;
  next.isWithdrawn = before.isWithdrawn;
  next.overrideVersion = before.overrideVersion;
  next.overrideUntilMs = before.overrideUntilMs;
  memory.copy(next.who, before.who, before.whoLength + before.whyLength);
  return next;
}
