/** The numbers of filter/breaker/state.ts, outcome.ts, config.ts and breaker.ts, as the records module takes and tells them. */
export const State = { closed: 0, open: 1, halfOpen: 2 } as const;

export const Cause = {
  none: 0,
  failureRate: 1,
  consecutiveFailures: 2,
  engineFatal: 3,
  outOfMemory: 4,
  probeFailed: 5,
  canaryFailed: 6,
  waitOver: 7,
  probeSucceeded: 8,
  stagePassed: 9,
  rampComplete: 10,
  probeAbandoned: 11,
  slowCallRate: 12,
  backpressure: 16,
  groupOpened: 17,
  groupProbed: 18,
  groupClosed: 19,
  operatorReset: 20,
} as const;

export const Outcome = {
  success: 0,
  failure: 1,
  engineFatal: 2,
  outOfMemory: 3,
  backpressure: 4,
  neutral: 5,
} as const;

export const Mode = { enforce: 0, shadow: 1, disabled: 2, forcedOpen: 3, forcedClosed: 4 } as const;

export const Permission = { permitted: 0, refused: 1, canaryOnly: 2 } as const;

/** Flags of a verdict, beside its cause. */
export const late = 0x100;
export const reported = 0x200;
