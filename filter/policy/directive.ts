/**
 * What the service last told about a backend, as this VM read it from shared data with its last tick: plain fields, so that
 * requests pay nothing for it. Durations became deadlines; whatever is over has been taken back by the tick.
 */
@final
export class Directive {
  /** Whether other gateways have a say: then a probe needs the group's lease. */
  isGrouped: bool = false;
  /** Until then this process may begin a probe. Monotonic milliseconds. */
  mayProbeUntilMs: u64 = 0;
  /** Requests that wait at the engine with the longest queue; -1 = unknown. */
  waiting: i32 = -1;
  /** The service's configuration calls the queue long: degrade rules hold. */
  isQueueLong: bool = false;

  /** Whether a probe may begin now. */
  mayProbe(now: u64): bool {
    return !this.isGrouped || now < this.mayProbeUntilMs;
  }
}
