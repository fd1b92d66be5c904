/**
 * A window is cut into slots. Points count until the end of the slot in which their time is up, so never for less than
 * the window and for at most a twelfth more: no span of the window's length ever holds more than the limit.
 */
export const SLOTS_PER_WINDOW = 12;

/** Milliseconds. */
export function slotWidth(windowSeconds: number): number {
  return Math.ceil((windowSeconds * 1000) / SLOTS_PER_WINDOW);
}

/** The slot at whose end points leave that are to count for `seconds` from now on; slot n ends at n × width. */
export function slotOf(nowMs: number, seconds: number, widthMs: number): number {
  return Math.ceil((nowMs + seconds * 1000) / widthMs);
}

/**
 * For how many seconds from now on points must be told to count to fall into the slot that ends at `leavesAtMs`:
 * its middle, so that neither rounding nor another machine's clock leads into a neighbour. Below 1 when it is too late.
 */
export function secondsInto(leavesAtMs: number, nowMs: number, widthMs: number): number {
  return Math.round((leavesAtMs - widthMs / 2 - nowMs) / 1000);
}
