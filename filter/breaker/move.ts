import { advanceClock } from "./clock";
import { BreakerConfig } from "./config";
import { VERDICT_LATE } from "./enforcement";
import { isMoving } from "./mode";
import { BackendRecord } from "./record";
import { Cause, State } from "./state";
import { close, enterRamp, lengthenWait, openFor } from "./transitions";

/** A word from outside that moves a record: of the group's, or of an operator. */
@final
export class Move {
  /** Of the register that it comes from; a record takes each version once. */
  version: u64 = 0;
  /** The generation that the word was made for: what the record has done since is not overruled. */
  expectedGeneration: u32 = 0;
  to: i32 = State.CLOSED;
  /** Of the ramp, from 1 on; only to HALF_OPEN. */
  stage: i32 = 0;
  openings: i32 = 0;
  waitMs: u64 = 0;
  /** GROUP_OPENED, GROUP_PROBED, GROUP_CLOSED or OPERATOR_RESET. */
  cause: i32 = Cause.NONE;
  /** Moves a CLOSED record too; otherwise such a one only takes note. */
  isForAll: bool = false;
  /** The group has taken over what this record did by itself: it only takes note. */
  isOwn: bool = false;
}

/**
 * Moves the record by a word from outside, if it still is what the word was made for. Where nothing is to be moved it takes
 * note of the version.
 * @returns a verdict: a `Cause` (NONE: no transition, but to be written back), or `VERDICT_LATE`: nothing was changed
 */
export function onMove(record: BackendRecord, config: BreakerConfig, now: u64, move: Move): i32 {
  const time = advanceClock(record, now);
  if (move.expectedGeneration !== record.generation || move.version <= record.track) return VERDICT_LATE;
  if (!move.isOwn && !isApplicable(config, move)) return VERDICT_LATE;
  record.track = move.version;
  if (move.isOwn || (record.state === State.CLOSED && !move.isForAll)) return Cause.NONE;
  if (move.to === State.OPEN) return moveToOpen(record, config, time, move);
  return move.to === State.HALF_OPEN ? moveToRamp(record, time, move) : moveToClosed(record, time, move);
}

/** Forced modes keep the state as it is, and the version for later; an operator's reset is heard in all of them. */
function isApplicable(config: BreakerConfig, move: Move): bool {
  if (move.cause < Cause.GROUP_OPENED || move.cause > Cause.OPERATOR_RESET) return false;
  if (move.to === State.HALF_OPEN && move.stage < 1) return false;
  return <u32>move.to <= <u32>State.HALF_OPEN && (isMoving(config.mode) || isReset(move));
}

function isReset(move: Move): bool {
  return move.to === State.CLOSED && move.cause === Cause.OPERATOR_RESET;
}

/** One more opening is a transition, though it is OPEN already; the same opening may only be made longer. */
function moveToOpen(record: BackendRecord, config: BreakerConfig, now: u64, move: Move): i32 {
  if (record.state === State.OPEN && move.openings <= record.openings) {
    lengthenWait(record, config, now, move.waitMs);
    return Cause.NONE;
  }
  openFor(record, config, now, move.openings, move.waitMs, move.cause);
  return move.cause;
}

/** A ramp is never begun from CLOSED: nothing would be gained by refusing what is let pass. */
function moveToRamp(record: BackendRecord, now: u64, move: Move): i32 {
  const isThere = record.state === State.HALF_OPEN && record.stage === move.stage;
  if (isThere || record.state === State.CLOSED) return Cause.NONE;
  record.openings = max(record.openings, move.openings);
  enterRamp(record, move.stage, now, move.cause);
  return move.cause;
}

function moveToClosed(record: BackendRecord, now: u64, move: Move): i32 {
  const isByOperator = isReset(move);
  if (record.state === State.CLOSED && !isByOperator) return Cause.NONE;
  if (isByOperator) record.openings = 0;
  close(record, now, move.cause);
  return move.cause;
}
