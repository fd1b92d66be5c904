import { inOrder, isOpening, type Transition } from "./transitions.js";

/** Half-open has two parts: while the probe runs no user request may pass, in the ramp canaries may. */
export type Phase = "closed" | "open" | "probing" | "ramp";

/** A stretch of time in one phase, [startMs, endMs). The last one's end is infinite. */
export interface Span {
  readonly phase: Phase;
  readonly startMs: number;
  readonly endMs: number;
  /** Counts openings: 0 before the first. */
  readonly opening: number;
}

function phaseOf(transition: Transition): Phase {
  if (transition.to === "CLOSED") return "closed";
  if (transition.to === "OPEN") return "open";
  return transition.cause === "WAIT_OVER" ? "probing" : "ramp";
}

/** One backend's phases over time, from its transitions. Stages of the ramp are one phase. */
export function phasesOf(transitions: readonly Transition[]): Span[] {
  const spans: Span[] = [];
  let current = { phase: "closed" as Phase, startMs: Number.NEGATIVE_INFINITY, opening: 0 };
  for (const transition of inOrder(transitions)) {
    const phase = phaseOf(transition);
    const opening = current.opening + (isOpening(transition) ? 1 : 0);
    if (phase === current.phase && opening === current.opening) continue;
    spans.push({ ...current, endMs: transition.atMs });
    current = { phase, startMs: transition.atMs, opening };
  }
  spans.push({ ...current, endMs: Number.POSITIVE_INFINITY });
  return spans;
}

/** The span that holds the moment. Never undefined: spans cover all time. */
export function spanAt(spans: readonly Span[], atMs: number): Span {
  const span = spans.findLast(({ startMs }) => atMs >= startMs);
  if (span === undefined) throw new RangeError(`no span holds ${atMs}`);
  return span;
}
