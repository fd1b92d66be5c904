/** What an attempt counts as. Filed once, at the attempt's end. */
export enum Outcome {
  /** 2xx and complete. */
  SUCCESS,
  /** The backend's fault: 5xx, reset, timeout, stall, cut stream, error inside a 200 stream. */
  FAILURE,
  /** A failure whose message tells of a dead engine or a broken GPU. */
  ENGINE_FATAL,
  /** A failure whose message tells of GPU memory: once is bad luck, twice is a sick backend. */
  OUT_OF_MEMORY,
  /** The backend works and asks for less: 429, 529, 503 with Retry-After. Neither success nor failure. */
  BACKPRESSURE,
  /** Nobody's verdict: the client left, Envoy or we refused, the attempt was never sent. */
  NEUTRAL,
}

/** The weight of one whole failure. Weights are hundredths, so that rates in percent need no division. */
export const FULL_WEIGHT: u32 = 100;

/** What weighs more is taken for this, so that no single failure fills a total. */
export const MAX_WEIGHT: u32 = 10000;

/** Whether the outcome is a failure of any kind. */
export function isFailure(outcome: i32): bool {
  return outcome >= Outcome.FAILURE && outcome <= Outcome.OUT_OF_MEMORY;
}

/** Whether the outcome is in the failure rate, on either side. */
export function isCounted(outcome: i32): bool {
  return outcome >= Outcome.SUCCESS && outcome <= Outcome.OUT_OF_MEMORY;
}
