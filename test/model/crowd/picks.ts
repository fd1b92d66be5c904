import { Cause, Mode, Outcome, State } from "../record/names.js";
import type { Orders, Word } from "../reference/operation.js";

/** What a step's `pick`, 0 to 15, stands for. A pick beyond the waits is until what is due. */
export const waitsMs = [20, 50, 250, 700, 1_000, 2_500, 5_000, 12_000, 31_000];

/** Time that passes while a worker has read and not yet written. */
export const pausesMs = [0, 1, 20, 150];

/** The draws of requests: below every stage's percentage, between them, above all. */
export const draws = [0, 0x8000_0000, 0xffff_ffff];

export const noOrders: Orders = { mode: Mode.enforce, rampShare: -1, isHeld: false };

const modes = [Mode.enforce, Mode.enforce, Mode.shadow, Mode.forcedOpen, Mode.forcedClosed, Mode.disabled];
const shares = [-1, -1, 1, 0];
const failures = [Outcome.failure, Outcome.engineFatal, Outcome.outOfMemory];
const retryAfterMs = [0, 2_000, 60_000];

export function ordersOf(pick: number): Orders {
  return {
    mode: modes[pick % modes.length] ?? Mode.enforce,
    rampShare: shares[pick % shares.length] ?? -1,
    isHeld: pick % 5 === 4,
  };
}

/** How a request ends, and what Retry-After it was told. */
export function endOf(
  kind: "succeed" | "fail" | "mild",
  pick: number,
): [outcome: number, retryAfterMs: number] {
  if (kind === "succeed") return [Outcome.success, 0];
  if (kind === "fail") return [failures[pick % failures.length] ?? Outcome.failure, 0];
  if (pick % 4 === 0) return [Outcome.neutral, 0];
  return [Outcome.backpressure, retryAfterMs[pick % retryAfterMs.length] ?? 0];
}

/** The words that there are, in turn. */
export function wordOf(
  pick: number,
  openings: number,
): Pick<Word, "to" | "stage" | "openings" | "waitMs" | "cause"> {
  const { operatorReset, groupOpened, groupProbed, groupClosed } = Cause;
  const more = { stage: 0, openings: openings + (Math.floor(pick / 5) % 2), waitMs: 1_500 };
  switch (pick % 5) {
    case 0:
      return { ...more, to: State.closed, cause: operatorReset };
    case 1:
      return { ...more, to: State.closed, cause: groupClosed };
    case 2:
      return { ...more, to: State.open, cause: groupOpened };
    default:
      return { ...more, to: State.halfOpen, stage: (pick % 5) - 2, cause: groupProbed };
  }
}
