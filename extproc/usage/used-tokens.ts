import type { RequestEnd } from "./access-log-entry.js";

/**
 * What a request that is over is charged for. Real usage when the answer told it. A caller who left keeps his debit: the
 * backend may have worked for all of it. A refused or failed request used nothing. Undefined: what was reserved.
 */
export function usedTokens({ usage, status, callerLeft }: RequestEnd): number | undefined {
  if (callerLeft || status === 0) return undefined;
  if (usage !== undefined) return usage;
  return status >= 400 ? 0 : undefined;
}
