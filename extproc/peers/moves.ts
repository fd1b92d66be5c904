import type { Move } from "../sync/contract.js";
import { isMoving, type LocalGateway } from "./local-gateway.js";
import { type Word, waitLeft } from "./word.js";

/** So long an operator's reset is told to gateways that are CLOSED: to empty their windows. */
const RESET_TOLD_MS = 10_000;
/** Waits that differ by less are the same. */
const SAME_WAIT_MS = 500;

/**
 * How a gateway gets to where the group's word says, if it is not there yet.
 * @param isOpenForAll more than half of the group are open by what they have seen: gateways that are CLOSED open too
 */
export function moveFor(
  gateway: LocalGateway,
  word: Word,
  isOpenForAll: boolean,
  now: number,
): Move | undefined {
  const { report } = gateway;
  const isReset = word.cause === "OPERATOR_RESET";
  if (report.track >= word.version || !(isMoving(report.mode) || isReset)) return undefined;
  if (isReset && now - word.heardAtMs < RESET_TOLD_MS) return move(gateway, word, true, false, now);
  if (report.state === "CLOSED" && word.phase !== "CLOSED")
    return isOpenForAll ? moveToOpen(gateway, word, now) : undefined;
  // It has the lease, or had it: its verdict comes first.
  if (gateway.isProbing(now) && word.phase !== "CLOSED") return undefined;
  return move(gateway, word, true, isThere(gateway, word, now), now);
}

/** No record goes from CLOSED into a ramp: it opens first, under a version that is not yet the word's. */
function moveToOpen(gateway: LocalGateway, word: Word, now: number): Move | undefined {
  const opened = move(gateway, { ...word, phase: "OPEN", stage: 0 }, true, false, now);
  if (word.phase === "OPEN") return opened;
  const version = word.version - 1;
  return gateway.report.track < version ? { ...opened, version, waitMs: 0 } : undefined;
}

function isThere(gateway: LocalGateway, word: Word, now: number): boolean {
  const { state, stage, openings } = gateway.report;
  if (state !== word.phase) return false;
  if (state === "HALF_OPEN") return stage === word.stage;
  if (state === "CLOSED") return true;
  return openings >= word.openings && gateway.waitMs(now) >= waitLeft(word, now) - SAME_WAIT_MS;
}

function move(gateway: LocalGateway, word: Word, isForAll: boolean, isOwn: boolean, now: number): Move {
  const { version, phase, stage, openings, cause } = word;
  const expectedGeneration = gateway.report.generation;
  const waitMs = waitLeft(word, now);
  return { version, expectedGeneration, to: phase, stage, openings, waitMs, cause, isForAll, isOwn };
}
