// What an answer of the service says about one backend: a `Directive` of proto/llm_breaker/v1/sync.proto.
import { Mode } from "../breaker/config";
import { Move } from "../breaker/move";
import { Summary } from "../breaker/restore";
import { ProtoReader } from "../bytes/proto-reader";

/** A longer time is taken for this: sums of it with a clock stay far from the end of 64 bits. */
const MAX_MS: u64 = 30 * 24 * 3600 * 1000;

@final
export class Heard {
  name: usize = 0;
  nameLength: i32 = 0;
  acknowledged: u32 = 0;

  hasOverride: bool = false;
  mode: i32 = Mode.ENFORCE;
  remainingMs: u64 = 0;
  overrideVersion: u64 = 0;
  isWithdrawn: bool = false;
  who: usize = 0;
  whoLength: i32 = 0;
  why: usize = 0;
  whyLength: i32 = 0;

  hasSignals: bool = false;
  isFresh: bool = false;
  kvCacheUse: u32 = 0;
  isWhole: bool = false;
  waiting: u32 = 0;
  isQueueLong: bool = false;

  isGrouped: bool = false;
  mayProbeMs: u64 = 0;
  rampShare: u32 = 0;

  hasMove: bool = false;
  hasSummary: bool = false;
}

/** One at a time: the leader reads answers one by one. Texts are places in the answer. */
export let heard: Heard = new Heard();
export let move: Move = new Move();
export let summary: Summary = new Summary();

const directive = new ProtoReader();
const part = new ProtoReader();

/** Reads a directive into {@link heard}, {@link move} and {@link summary}; false when the bytes are none. */
export function hear(ptr: usize, size: i32): bool {
  memory.fill(changetype<usize>(heard), 0, offsetof<Heard>());
  directive.open(ptr, size);
  while (directive.next()) {
    if (directive.isNumber) {
      if (directive.field === 2) heard.acknowledged = directive.small;
    } else if (directive.isBytes && !hearPart(directive.field)) return false;
  }
  return !directive.isBroken;
}

function hearPart(field: u32): bool {
  part.open(directive.ptr, directive.length);
  switch (field) {
    case 1:
      heard.name = directive.ptr;
      heard.nameLength = directive.length;
      return true;
    case 3:
      return hearOverride();
    case 4:
      return hearSignals();
    case 5:
      return hearGroup();
    case 6:
      return hearMove();
    case 7:
      return hearSummary();
    default:
      return true;
  }
}

function hearOverride(): bool {
  heard.hasOverride = true;
  while (part.next()) {
    if (part.isNumber) hearOverrideNumber();
    else if (part.isBytes) {
      if (part.field === 5) {
        heard.who = part.ptr;
        heard.whoLength = part.length;
      } else if (part.field === 6) {
        heard.why = part.ptr;
        heard.whyLength = part.length;
      }
    }
  }
  // A mode that this filter does not know can't be followed, nor a word that no later one could take back.
  if (<u32>heard.mode > <u32>Mode.FORCED_CLOSED || heard.overrideVersion === 0) heard.hasOverride = false;
  return !part.isBroken;
}

function hearOverrideNumber(): void {
  switch (part.field) {
    case 1:
      heard.mode = <i32>part.small;
      break;
    case 2:
      heard.remainingMs = min(part.value, MAX_MS);
      break;
    case 3:
      heard.overrideVersion = part.value;
      break;
    case 4:
      heard.isWithdrawn = part.value !== 0;
      break;
  }
}

function hearSignals(): bool {
  heard.hasSignals = true;
  while (part.next()) {
    if (!part.isNumber) continue;
    switch (part.field) {
      case 1:
        heard.isFresh = part.value !== 0;
        break;
      case 2:
        heard.kvCacheUse = part.small;
        break;
      case 3:
        heard.isWhole = part.value !== 0;
        break;
      case 4:
        heard.waiting = part.small;
        break;
      case 5:
        heard.isQueueLong = part.value !== 0;
        break;
    }
  }
  return !part.isBroken;
}

function hearGroup(): bool {
  heard.isGrouped = true;
  while (part.next()) {
    if (!part.isNumber) continue;
    if (part.field === 1) heard.mayProbeMs = min(part.value, MAX_MS);
    else if (part.field === 2) heard.rampShare = part.small;
  }
  return !part.isBroken;
}

function hearMove(): bool {
  memory.fill(changetype<usize>(move), 0, offsetof<Move>());
  heard.hasMove = true;
  while (part.next()) if (part.isNumber) hearMoveNumber();
  return !part.isBroken;
}

function hearMoveNumber(): void {
  switch (part.field) {
    case 1:
      move.version = part.value;
      break;
    case 2:
      move.expectedGeneration = part.small;
      break;
    case 3:
      move.to = count();
      break;
    case 4:
      move.stage = count();
      break;
    case 5:
      move.openings = count();
      break;
    case 6:
      move.waitMs = min(part.value, MAX_MS);
      break;
    case 7:
      move.cause = count();
      break;
    case 8:
      move.isForAll = part.value !== 0;
      break;
    case 9:
      move.isOwn = part.value !== 0;
      break;
  }
}

function hearSummary(): bool {
  memory.fill(changetype<usize>(summary), 0, offsetof<Summary>());
  heard.hasSummary = true;
  while (part.next()) {
    if (!part.isNumber) continue;
    switch (part.field) {
      case 1:
        summary.state = count();
        break;
      case 2:
        summary.openings = count();
        break;
      case 3:
        summary.waitMs = min(part.value, MAX_MS);
        break;
      case 4:
        summary.isEvidence = part.value !== 0;
        break;
      case 5:
        summary.track = part.value;
        break;
    }
  }
  return !part.isBroken;
}

/** A number that is never negative. */
function count(): i32 {
  return <i32>min<u64>(part.value, i32.MAX_VALUE);
}
