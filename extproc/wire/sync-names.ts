import type { Mode, State } from "../sync/contract.js";
import { WireError } from "./reader.js";

/** By their numbers in sync.proto. */
const STATES: readonly State[] = ["CLOSED", "OPEN", "HALF_OPEN"];
const MODES: readonly Mode[] = ["enforce", "shadow", "disabled", "forcedOpen", "forcedClosed"];

/** As filter/breaker/state.ts numbers them; a test compares the two. */
const CAUSES = [
  "NONE",
  "FAILURE_RATE",
  "CONSECUTIVE_FAILURES",
  "ENGINE_FATAL",
  "OUT_OF_MEMORY",
  "PROBE_FAILED",
  "CANARY_FAILED",
  "WAIT_OVER",
  "PROBE_SUCCEEDED",
  "STAGE_PASSED",
  "RAMP_COMPLETE",
  "PROBE_ABANDONED",
  "SLOW_CALL_RATE",
  "FAILURE_COUNT",
  "LATENCY_DRIFT",
  "COST_RATE",
  "BACKPRESSURE",
  "GROUP_OPENED",
  "GROUP_PROBED",
  "GROUP_CLOSED",
  "OPERATOR_RESET",
  "RESTORED",
  "CONSECUTIVE_SLOW_CALLS",
] as const;

/** @throws WireError for a number that is no state's. */
export function stateOf(number: number): State {
  return known(STATES[number], "state", number);
}

/** @throws WireError for a number that is no mode's. */
export function modeOf(number: number): Mode {
  return known(MODES[number], "mode", number);
}

/** A filter that is younger than this service may know more of them. */
export function causeOf(number: number): string {
  return CAUSES[number] ?? "UNKNOWN";
}

export function stateNumber(state: State): number {
  return STATES.indexOf(state);
}

export function modeNumber(mode: Mode): number {
  return MODES.indexOf(mode);
}

/** NONE for a name that is no cause's. */
export function causeNumber(cause: string): number {
  return Math.max(0, (CAUSES as readonly string[]).indexOf(cause));
}

function known<Name>(name: Name | undefined, what: string, number: number): Name {
  if (name === undefined) throw new WireError(`${what} ${number} is unknown`);
  return name;
}
