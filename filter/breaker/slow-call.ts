import { BreakerConfig } from "./config";
import { BackendRecord } from "./record";
import { fileFirstTokenCalls } from "./window";

/** Whether a first token after so long is slow for a prompt of this size (a size that is not known: below 0). */
export function isSlowFirstToken(config: BreakerConfig, firstTokenMs: u64, promptTokens: i32): bool {
  const perPromptToken = <u64>config.slowFirstTokenPerPromptTokenMs * max(promptTokens, 0);
  return firstTokenMs > <u64>config.slowFirstTokenThresholdMs + perPromptToken;
}

/** Files first tokens in the window and the row of slow ones, which one in time ends: what was slow before it is over. */
export function fileFirstTokens(
  record: BackendRecord,
  calls: u32,
  slow: u32,
  slowInARow: u32,
  now: u64,
): void {
  fileFirstTokenCalls(record, calls, slow, now);
  const before = slowInARow >= calls ? max(record.consecutiveSlowCalls, 0) : 0;
  record.consecutiveSlowCalls = <i32>min<u64>(<u64>before + slowInARow, <u64>i32.MAX_VALUE);
}
