const REASONS: ReadonlyMap<string, string> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["pause_turn", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "content_filter"],
]);

/** Why the answer ended, in OpenAI's words. Undefined while it has not. */
export function toFinishReason(stopReason: unknown): string | undefined {
  if (typeof stopReason !== "string") return undefined;
  return REASONS.get(stopReason) ?? "stop";
}
