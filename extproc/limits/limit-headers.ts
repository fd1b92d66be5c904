import type { LimitHeaders } from "./limiter.js";

/** Where one limit stands. */
export interface LimitStand {
  readonly kind: "tokens" | "requests";
  readonly limit: number;
  readonly remaining: number;
  /** Until the budget is whole again; for a refusal until the request would fit. Milliseconds. */
  readonly resetMs: number;
}

/** OpenAI's six headers, as far as there are limits. */
export function limitHeaders(stands: readonly LimitStand[]): LimitHeaders {
  const headers: Record<string, string> = {};
  for (const { kind, limit, remaining, resetMs } of stands) {
    headers[`x-ratelimit-limit-${kind}`] = String(limit);
    headers[`x-ratelimit-remaining-${kind}`] = String(Math.max(0, remaining));
    headers[`x-ratelimit-reset-${kind}`] = formatReset(resetMs);
  }
  return headers;
}

/** As OpenAI writes it: "850ms", "12s", "6m0s". */
export function formatReset(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.ceil(ms))}ms`;
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
