export type BreakerState = "CLOSED" | "OPEN" | "HALF_OPEN";

/** One change of a breaker's state, as the filter logs it. `atMs` is on the monotonic clock, in whole ms. */
export interface Transition {
  readonly backend: string;
  readonly from: BreakerState;
  readonly to: BreakerState;
  readonly cause: string;
  readonly generation: number;
  readonly atMs: number;
}

const MARK = "llm.breaker transition ";
const STATES: readonly string[] = ["CLOSED", "OPEN", "HALF_OPEN"] satisfies BreakerState[];

/** Reads a transition out of a line of Envoy's log; undefined when the line has none. */
export function parseTransition(line: string): Transition | undefined {
  const start = line.indexOf(MARK);
  if (start < 0) return undefined;
  const text = line.slice(start + MARK.length);
  try {
    const value: unknown = JSON.parse(text.slice(0, text.lastIndexOf("}") + 1));
    return isTransition(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isTransition(value: unknown): value is Transition {
  if (typeof value !== "object" || value === null) return false;
  const { backend, from, to, cause, generation, atMs } = value as Record<string, unknown>;
  const isState = (state: unknown): boolean => typeof state === "string" && STATES.includes(state);
  const isNumber = (number: unknown): boolean => typeof number === "number" && Number.isFinite(number);
  return (
    typeof backend === "string" &&
    typeof cause === "string" &&
    isState(from) &&
    isState(to) &&
    isNumber(generation) &&
    isNumber(atMs)
  );
}

/** In the order in which they happened: workers log on their own, so lines may come in another order. */
export function inOrder(transitions: readonly Transition[]): Transition[] {
  return [...transitions].sort((a, b) => a.generation - b.generation || a.atMs - b.atMs);
}

/**
 * True for a new opening. A probe that was cut before it reached the backend only goes back to waiting, in the same opening.
 */
export function isOpening(transition: Transition): boolean {
  return transition.to === "OPEN" && transition.cause !== "PROBE_ABANDONED";
}
