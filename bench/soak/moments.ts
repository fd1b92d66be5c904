import { between, type Random } from "../../demo/random.js";
import { streamRequest } from "../load/requests.js";

/** What one caller does with one request. */
export interface Plan {
  readonly request: Buffer;
  /** When to go, if not at the answer's end. */
  readonly leave?: Leave;
}

export interface Leave {
  readonly from: "request" | "firstPiece";
  readonly afterMs: number;
  /** By a reset instead of a close, as a killed program does. */
  readonly byReset: boolean;
}

const fewestEvents = 5;
const mostEvents = 10;
const waitMs = 4;
const gapMs = 4;
const longestStayMs = 20;
const leavingShare = 0.5;

/** A request for each length of an answer, made once: making them would cost more than sending. */
function requestsOf(silentAfterWrites?: number): readonly Buffer[] {
  return Array.from({ length: mostEvents - fewestEvents + 1 }, (_, more) => {
    const shape = { events: fewestEvents + more, eventsPerWrite: 2, waitMs, gapMs };
    return streamRequest({ ...shape, ...(silentAfterWrites !== undefined && { silentAfterWrites }) }, 20)(0);
  });
}

// An upstream that falls silent keeps the moment open on a machine whose timers are late.
const whole = requestsOf();
const withoutHead = requestsOf(0);
const withRoleOnly = requestsOf(1);
const withSomeTokens = [2, 3].map(requestsOf);

/** Half of the plans leave: a third of those each before headers, while the answer is held, and in the middle of it. */
export function nextPlan(random: Random): Plan {
  const pick = (from: readonly Buffer[]): Buffer => from[between(random, 0, from.length - 1)] as Buffer;
  if (random() >= leavingShare) return { request: pick(whole) };
  const byReset = random() < 0.5;
  const upTo = (ms: number, leastMs = 0): number => between(random, leastMs, ms);
  switch (between(random, 0, 2)) {
    case 0:
      return { request: pick(withoutHead), leave: { from: "request", afterMs: upTo(waitMs), byReset } };
    case 1: {
      const leave: Leave = { from: "request", afterMs: upTo(longestStayMs, waitMs), byReset };
      return { request: pick(withRoleOnly), leave };
    }
    default: {
      const leave: Leave = { from: "firstPiece", afterMs: upTo(2 * gapMs), byReset };
      return { request: pick(withSomeTokens[between(random, 0, 1)] ?? whole), leave };
    }
  }
}
