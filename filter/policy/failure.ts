/** What went wrong with an attempt, as a policy's weights and the answers' headers name it. */
export enum Failure {
  NONE,
  /** An error status. */
  STATUS,
  /** No connection, or no host to connect to. */
  CONNECT,
  /** The connection broke before the answer began. */
  RESET,
  /** No first token, or no answer in one piece, in its time. */
  TIMEOUT,
  /** Silence between the bytes of an answer. */
  STALL,
  /** The answer ended before its end. */
  CUT,
  /** An error inside an answer of status 200. */
  ERROR,
  /** The engine is dead, or its GPU broken, by its own words. */
  ENGINE_FATAL,
  OUT_OF_MEMORY,
  /** The backend is well and asks for less. */
  BACKPRESSURE,
  /** The caller's request is what is wrong, or the set-up of this tier. */
  REFUSED,
}

export const FAILURES: i32 = 12;

export function failureName(failure: i32): string {
  switch (failure) {
    case Failure.STATUS:
      return "status";
    case Failure.CONNECT:
      return "connect";
    case Failure.RESET:
      return "reset";
    case Failure.TIMEOUT:
      return "timeout";
    case Failure.STALL:
      return "stall";
    case Failure.CUT:
      return "cut";
    case Failure.ERROR:
      return "error";
    case Failure.ENGINE_FATAL:
      return "engineFatal";
    case Failure.OUT_OF_MEMORY:
      return "outOfMemory";
    case Failure.BACKPRESSURE:
      return "backpressure";
    default:
      return "refused";
  }
}
