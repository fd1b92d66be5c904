import type { FaultRequest } from "../../demo/fleet/faults.js";
import type { Limits } from "./racer.js";

/** Seconds from the start of the race. */
export type Seconds = number;
export type Span = readonly [from: Seconds, to: Seconds];

/** Something that happens to a node of the primary. */
export interface Step {
  readonly at: Seconds;
  readonly node: number;
  /** Absent: what was wrong with it ends. */
  readonly fault?: FaultRequest;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** What goes wrong, in a sentence or two. */
  readonly what: string;
  readonly seconds: Seconds;
  readonly nodes: number;
  /** The nodes that fall ill. */
  readonly sick: readonly number[];
  readonly steps: readonly Step[];
  /** From the first symptom to the moment when a primary that nobody disturbed serves as before. */
  readonly fault: Span;
  /** The part of it, or after it, in which too much at once would hurt. */
  readonly recovering: Span;
  readonly callers: Callers;
  /** Racers run one after another: the load is all that the machine carries. */
  readonly oneByOne?: boolean;
}

export interface Callers {
  readonly perSecond: number;
  /** A caller that has waited so long for the end of its answer hangs up. */
  readonly patienceMs: number;
  /** Times that a caller tries again, at once, after it hung up or was told an error. */
  readonly retries: number;
  /** What they were promised. */
  readonly limits: Limits;
  readonly rush?: { readonly span: Span; readonly perSecond: number };
}
