import { Mode } from "./config";

/** Whether the state machine may move: only then are there openings, probes and canaries. */
export function isMoving(mode: i32): bool {
  return mode !== Mode.DISABLED && mode !== Mode.FORCED_OPEN && mode !== Mode.FORCED_CLOSED;
}

/** Whether what attempts end with is filed. */
export function isFiling(mode: i32): bool {
  return mode !== Mode.DISABLED && mode !== Mode.FORCED_OPEN;
}

/** Whether the state decides what may pass; otherwise the mode alone does. */
export function isRefusing(mode: i32): bool {
  return isMoving(mode) && mode !== Mode.SHADOW;
}
