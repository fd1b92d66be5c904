import type { LocalGateway } from "./local-gateway.js";
import { MAX_TRACK } from "./version.js";
import { type News, type Word, waitLeft } from "./word.js";

/** Transitions that the group, an operator or a restart has made, or that are no verdict. */
const NOT_BY_EVIDENCE = new Set([
  "NONE",
  "PROBE_FAILED",
  "CANARY_FAILED",
  "WAIT_OVER",
  "PROBE_SUCCEEDED",
  "STAGE_PASSED",
  "RAMP_COMPLETE",
  "PROBE_ABANDONED",
  "GROUP_OPENED",
  "GROUP_PROBED",
  "GROUP_CLOSED",
  "OPERATOR_RESET",
  "RESTORED",
]);

/** An opening whose wait is longer by this: somebody was told a Retry-After. Clocks that differ by 1 % don't come to it. */
const LONGER_MS = 3000;

/**
 * What a gateway has done by itself since its last report that the group has to hear of. `isFirst`: nothing was known of
 * the gateway here, so that its last transition may be an old one that the group has judged already.
 */
export function newsOf(
  gateway: LocalGateway,
  word: Word | undefined,
  isFirst: boolean,
  now: number,
): News | undefined {
  const { track } = gateway.report;
  if (word === undefined || (track > word.version && track < MAX_TRACK)) return adopted(gateway, word, now);
  if (isOpening(gateway))
    return isNewOpening(gateway, word, isFirst) ? opening(gateway, word, now) : undefined;
  if (isFailedCanary(gateway, word)) return failure(gateway, word, now);
  // Whatever else it did, it did not know what the group had said by then.
  return track === word.version ? verdict(gateway, word, now) : undefined;
}

/** It waits longer than the group: the backend asked for it. */
export function longerWait(gateway: LocalGateway, word: Word, now: number): News | undefined {
  const { state, track } = gateway.report;
  if (state !== "OPEN" || word.phase !== "OPEN" || track !== word.version) return undefined;
  const waitMs = gateway.waitMs(now);
  if (waitMs <= waitLeft(word, now) + LONGER_MS) return undefined;
  return { phase: "OPEN", stage: 0, openings: word.openings, waitMs, cause: word.cause };
}

/** The service has forgotten what its gateways know: it was restarted. */
function adopted(gateway: LocalGateway, word: Word | undefined, now: number): News | undefined {
  const { state, stage, openings, cause } = gateway.report;
  if (state === "CLOSED") {
    const isVerdict = cause === "RAMP_COMPLETE" || cause === "GROUP_CLOSED";
    return word !== undefined && word.phase !== "CLOSED" && isVerdict ? closing() : undefined;
  }
  if (gateway.isRamping()) return { phase: "HALF_OPEN", stage, openings, waitMs: 0, cause: "GROUP_PROBED" };
  return { phase: "OPEN", stage: 0, openings, waitMs: gateway.waitMs(now), cause: "GROUP_OPENED" };
}

/** From CLOSED, by what the gateway itself has seen. */
function isOpening({ report }: LocalGateway): boolean {
  return report.state === "OPEN" && report.isEvidence && !NOT_BY_EVIDENCE.has(report.cause);
}

/** At first sight an opening under an older word may be one that has been judged. */
function isNewOpening({ report }: LocalGateway, word: Word, isFirst: boolean): boolean {
  if (!isFirst) return true;
  return word.phase === "CLOSED" && (report.track === word.version || report.track === 0);
}

function opening(gateway: LocalGateway, word: Word, now: number): News {
  const before = word.phase === "CLOSED" ? 0 : word.openings;
  const openings = Math.max(before, gateway.report.openings);
  const waitMs = Math.max(gateway.waitMs(now), waitLeft(word, now));
  return { phase: "OPEN", stage: 0, openings, waitMs, cause: "GROUP_OPENED" };
}

/** In a stage that the group has left meanwhile, too: the backend is not well. */
function isFailedCanary({ report }: LocalGateway, word: Word): boolean {
  if (report.state !== "OPEN" || report.cause !== "CANARY_FAILED") return false;
  if (report.track === word.version) return true;
  return word.phase === "HALF_OPEN" && report.openings <= word.openings + 1;
}

function failure(gateway: LocalGateway, word: Word, now: number): News {
  const openings = Math.max(gateway.report.openings, word.openings);
  return { phase: "OPEN", stage: 0, openings, waitMs: gateway.waitMs(now), cause: "GROUP_PROBED" };
}

function verdict(gateway: LocalGateway, word: Word, now: number): News | undefined {
  const { state, stage, openings, cause } = gateway.report;
  if (state === "CLOSED") {
    return cause === "RAMP_COMPLETE" && word.phase !== "CLOSED" ? closing() : undefined;
  }
  if (gateway.isRamping()) {
    const isFurther = word.phase !== "HALF_OPEN" || stage > word.stage;
    return isFurther ? { phase: "HALF_OPEN", stage, openings, waitMs: 0, cause: "GROUP_PROBED" } : undefined;
  }
  if (cause === "PROBE_FAILED") return failure(gateway, word, now);
  // It opened and went on while it stood alone.
  return word.phase === "CLOSED" ? opening(gateway, word, now) : undefined;
}

function closing(): News {
  return { phase: "CLOSED", stage: 0, openings: 0, waitMs: 0, cause: "GROUP_CLOSED" };
}
