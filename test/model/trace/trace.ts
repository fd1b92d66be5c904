/** A line of Envoy's log: one transition, as the worker that made it tells it. */
export interface TracedTransition {
  readonly backend: string;
  readonly from: string;
  readonly to: string;
  readonly cause: string;
  readonly stage: number;
  readonly generation: number;
  readonly openings: number;
  readonly waitMs: number;
  /** By the machine's monotonic clock, as all times here. */
  readonly atMs: number;
}

/** A request as the backend saw it. */
export interface TracedArrival {
  readonly isProbe: boolean;
  readonly isWell: boolean;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What was recorded of a real Envoy and the backend behind it. */
export interface Trace {
  /** In the order of their generations. */
  readonly transitions: readonly TracedTransition[];
  /** In the order of their coming. */
  readonly arrivals: readonly TracedArrival[];
}

/** @param lines of Envoy's log */
export function readTransitions(lines: readonly string[], backend: string): TracedTransition[] {
  return lines
    .map((line) => JSON.parse(line.slice(line.indexOf("{"), line.lastIndexOf("}") + 1)) as TracedTransition)
    .filter((transition) => transition.backend === backend)
    .sort((one, other) => one.generation - other.generation);
}
