import type { Chat } from "../body/chat.js";

/** Messages, tools and tool calls: a template writes marks around each. */
export function piecesOf({ messages, tools }: Chat): number {
  return messages.reduce((sum, { toolCalls }) => sum + 1 + toolCalls.length, tools.length);
}
