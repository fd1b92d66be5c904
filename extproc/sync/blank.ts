import type { BackendReport, Counters, Window } from "./contract.js";

export const NO_WINDOW: Window = {
  calls: 0,
  failures: 0,
  weightedFailures: 0,
  backpressure: 0,
  outOfMemory: 0,
  firstTokens: 0,
  slowCalls: 0,
  consecutiveFailures: 0,
};

/** What a process has counted when it starts. */
export const NO_COUNTERS: Counters = {
  permitted: 0,
  refused: 0,
  limited: 0,
  shed: 0,
  diverted: 0,
  success: 0,
  failure: 0,
  backpressure: 0,
  neutral: 0,
  late: 0,
  canaries: 0,
  probes: 0,
  opened: 0,
};

/** A report in which every field has its default: CLOSED, and nothing seen. */
export function blankReport(name: string): BackendReport {
  return {
    name,
    state: "CLOSED",
    stage: 0,
    generation: 0,
    openings: 0,
    cause: "NONE",
    stateAgeMs: 0,
    waitRemainingMs: 0,
    isEvidence: false,
    track: 0,
    mode: "enforce",
    policyMode: "enforce",
    window: NO_WINDOW,
    seconds: [],
    transitions: [],
    livePermits: 0,
    stageCap: 0,
    probeLeaseMs: 0,
    probeTimeoutMs: 0,
    counters: NO_COUNTERS,
  };
}
