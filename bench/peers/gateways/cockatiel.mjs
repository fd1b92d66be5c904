// A node's guard by cockatiel: a bulkhead, a breaker over the last calls, and a limit until the first byte.
import {
  BrokenCircuitError,
  bulkhead,
  CircuitState,
  CountBreaker,
  circuitBreaker,
  handleWhen,
  TimeoutStrategy,
  timeout,
  wrap,
} from "cockatiel";

/** @type {import("../../race/racers/proxy/guard.js").CreateGuard} */
export function createGuard({ capacity, waitMs, isFailure }) {
  const slots = bulkhead(capacity);
  const breaker = circuitBreaker(handleWhen(isFailure), {
    halfOpenAfter: waitMs,
    breaker: new CountBreaker({ threshold: 0.5, size: 10, minimumNumberOfCalls: 5 }),
  });
  return (call, firstByteMs) => {
    // Left to itself cockatiel lets all others wait for the half-open breaker's one trial call.
    if (breaker.state === CircuitState.HalfOpen) return Promise.reject(new BrokenCircuitError());
    // An answer goes on after its first byte; by default its signal would be aborted then.
    const limit = timeout(firstByteMs, { strategy: TimeoutStrategy.Aggressive, abortOnReturn: false });
    // Without a signal of its own each call would add a listener to one that all share.
    const { signal: never } = new AbortController();
    return wrap(slots, breaker, limit).execute(({ signal }) => call(signal), never);
  };
}
