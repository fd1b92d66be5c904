import { isRecord, type JsonRecord } from "../../body/json.js";

/** Tokens to think with, by what OpenAI calls effort. */
const BUDGETS: ReadonlyMap<unknown, number> = new Map([
  ["low", 1024],
  ["medium", 4096],
  ["high", 16_384],
  ["xhigh", 32_768],
]);
/** Less is refused. */
const LEAST_BUDGET = 1024;

/**
 * How much the model may think. It may not where that would be refused: a limit that leaves no room for an answer
 * beside it, a tool that is forced, a history with tool calls (whose own thoughts a chat does not carry).
 */
export function thinkingFor(
  chat: JsonRecord,
  maxTokens: number,
  hasToolCalls: boolean,
  toolChoice: unknown,
): JsonRecord | undefined {
  const wanted = BUDGETS.get(chat.reasoning_effort);
  const isForced = isRecord(toolChoice) && (toolChoice.type === "any" || toolChoice.type === "tool");
  const budget = Math.min(wanted ?? 0, Math.floor(maxTokens / 2));
  if (budget < LEAST_BUDGET || hasToolCalls || isForced) return undefined;
  return { type: "enabled", budget_tokens: budget };
}
