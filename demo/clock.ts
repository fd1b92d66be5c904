/**
 * Milliseconds of CLOCK_MONOTONIC, with a fraction. Envoy's wasm host answers WASI's monotonic clock from the same source,
 * so a transition's `atMs` and every time taken here can be compared directly.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Waits, or returns early when `signal` is aborted. Never rejects: the caller looks at the signal, because an abort
 * (a client that left) is an ordinary end here.
 */
export function pause(waitMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, waitMs);
    signal?.addEventListener("abort", finish, { once: true });
  });
}
