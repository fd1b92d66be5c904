import { BreakerConfig } from "./config";

/** Whether a first token after so long is slow for a prompt of this size (a size that is not known: below 0). */
export function isSlowFirstToken(config: BreakerConfig, firstTokenMs: u64, promptTokens: i32): bool {
  const perPromptToken = <u64>config.slowFirstTokenPerPromptTokenMs * max(promptTokens, 0);
  return firstTokenMs > <u64>config.slowFirstTokenThresholdMs + perPromptToken;
}
