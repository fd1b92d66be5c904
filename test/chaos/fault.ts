import type { Mode } from "../support/upstream-mode.js";
import type { Random } from "./random.js";

/** How far an answer has come when the fault strikes. */
export type Moment = "before-headers" | "after-headers" | "before-first-token" | "after-tokens" | "at-end";

export interface Shape {
  readonly moment: Moment;
  readonly streamed: boolean;
  readonly random: Random;
}

/** What the caller does, when it is not simply to wait and read. */
export interface CallerHabit {
  readonly leaveAfterMs?: number;
  readonly leaveAfterBytes?: number;
  /** Stops reading for so long once the answer has begun. */
  readonly pauseMs?: number;
}

/** What one tier does with a request, and what that allows. */
export interface Script {
  readonly mode: Mode;
  /** A plain 5xx or a reset: the same backend may be asked once more. */
  readonly isPlain?: boolean;
  /** The Retry-After that is waited for at the same backend. */
  readonly patienceMs?: number;
  /**
   * An answer that may reach the caller as it is, in place of a whole completion: a whole one of another form, or one that
   * is never held.
   */
  readonly own?: { readonly status: number; readonly body: Buffer };
  /** More than is ever held: the caller sees it from its beginning on, whatever the chain commits. */
  readonly isTooLong?: boolean;
  readonly caller?: CallerHabit;
  /** How long the answer takes of itself, when it is not cut short. */
  readonly lastsMs?: number;
}

export interface Fault {
  readonly id: string;
  /** When it can strike an event stream; never if absent. */
  readonly streamed?: readonly Moment[];
  /** When it can strike an answer in one piece. */
  readonly json?: readonly Moment[];
  /** Nobody listens: the tier is a cluster of its own, which gets no request. */
  readonly isDead?: boolean;
  script(shape: Shape): Script;
}
