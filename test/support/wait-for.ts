import { setTimeout as sleep } from "node:timers/promises";

const pollMs = 15;

/**
 * Polls until `predicate` gives something truthy, and returns that.
 * @throws after `timeoutMs`, naming `what`
 */
export async function waitFor<T>(
  predicate: () => T | Promise<T>,
  timeoutMs: number,
  what = "the condition",
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await predicate();
    if (value) return value;
    if (performance.now() >= deadline) throw new Error(`${what} did not come true within ${timeoutMs} ms`);
    await sleep(pollMs);
  }
}
