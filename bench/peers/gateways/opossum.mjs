// A node's guard by opossum: a breaker over a short window, with its semaphore.
import CircuitBreaker from "opossum";

/** @type {import("../../race/racers/proxy/guard.js").CreateGuard} */
export function createGuard({ capacity, waitMs, isFailure }) {
  // Opossum's own time limit is one for all calls, and its AbortController one for all calls in flight: a late call would
  // end everybody's. So each call has a signal of its own.
  const breaker = new CircuitBreaker((call, firstByteMs) => call(AbortSignal.timeout(firstByteMs)), {
    timeout: false,
    errorThresholdPercentage: 25,
    volumeThreshold: 5,
    rollingCountTimeout: 2000,
    rollingCountBuckets: 10,
    resetTimeout: waitMs,
    capacity,
    errorFilter: (error) => !isFailure(error),
  });
  return (call, firstByteMs) => breaker.fire(call, firstByteMs);
}
