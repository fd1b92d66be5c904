/** HALF_OPEN has two phases, told apart by the record's stage: 0 = probing, n = stage n of the ramp. */
export enum State {
  CLOSED,
  OPEN,
  HALF_OPEN,
}

/** Why a transition happened. */
export enum Cause {
  NONE,
  FAILURE_RATE,
  CONSECUTIVE_FAILURES,
  ENGINE_FATAL,
  OUT_OF_MEMORY,
  PROBE_FAILED,
  CANARY_FAILED,
  WAIT_OVER,
  PROBE_SUCCEEDED,
  STAGE_PASSED,
  RAMP_COMPLETE,
  PROBE_ABANDONED,
  SLOW_CALL_RATE,
  FAILURE_COUNT,
  LATENCY_DRIFT,
  COST_RATE,
  BACKPRESSURE,
  /** More than half of the live gateways opened on their own evidence. */
  GROUP_OPENED,
  /** The group's prober, or a canary of another gateway, has decided. */
  GROUP_PROBED,
  GROUP_CLOSED,
  OPERATOR_RESET,
  /** What the process before this one knew. */
  RESTORED,
  CONSECUTIVE_SLOW_CALLS,
}

/** The state's name as resilience4j writes it; a static string. */
export function stateName(state: i32): string {
  switch (state) {
    case State.CLOSED:
      return "CLOSED";
    case State.OPEN:
      return "OPEN";
    case State.HALF_OPEN:
      return "HALF_OPEN";
    default:
      return "UNKNOWN";
  }
}

/** The cause's name for metrics and logs; a static string. A verdict's flags are ignored. */
export function causeName(cause: i32): string {
  switch (cause & 0xff) {
    case Cause.NONE:
      return "NONE";
    case Cause.FAILURE_RATE:
      return "FAILURE_RATE";
    case Cause.CONSECUTIVE_FAILURES:
      return "CONSECUTIVE_FAILURES";
    case Cause.ENGINE_FATAL:
      return "ENGINE_FATAL";
    case Cause.OUT_OF_MEMORY:
      return "OUT_OF_MEMORY";
    case Cause.PROBE_FAILED:
      return "PROBE_FAILED";
    case Cause.CANARY_FAILED:
      return "CANARY_FAILED";
    case Cause.WAIT_OVER:
      return "WAIT_OVER";
    case Cause.PROBE_SUCCEEDED:
      return "PROBE_SUCCEEDED";
    case Cause.STAGE_PASSED:
      return "STAGE_PASSED";
    case Cause.RAMP_COMPLETE:
      return "RAMP_COMPLETE";
    case Cause.PROBE_ABANDONED:
      return "PROBE_ABANDONED";
    case Cause.SLOW_CALL_RATE:
      return "SLOW_CALL_RATE";
    case Cause.FAILURE_COUNT:
      return "FAILURE_COUNT";
    case Cause.LATENCY_DRIFT:
      return "LATENCY_DRIFT";
    case Cause.COST_RATE:
      return "COST_RATE";
    case Cause.BACKPRESSURE:
      return "BACKPRESSURE";
    case Cause.GROUP_OPENED:
      return "GROUP_OPENED";
    case Cause.GROUP_PROBED:
      return "GROUP_PROBED";
    case Cause.GROUP_CLOSED:
      return "GROUP_CLOSED";
    case Cause.OPERATOR_RESET:
      return "OPERATOR_RESET";
    case Cause.RESTORED:
      return "RESTORED";
    case Cause.CONSECUTIVE_SLOW_CALLS:
      return "CONSECUTIVE_SLOW_CALLS";
    default:
      return "UNKNOWN";
  }
}
