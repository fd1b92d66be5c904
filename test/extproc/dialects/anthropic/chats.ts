import { toMessages } from "../../../../extproc/dialects/anthropic/request.js";

export const hi = { role: "user", content: "hi" };

export const call = (id: string, name: string, args: string) => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

/** The Messages body, as text, of a chat's bytes. */
export const textOf = (body: Buffer) => Buffer.from(toMessages(body).body).toString();

/** The Messages body of a chat, whose messages are one greeting unless it says others. */
export function translate(chat: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(textOf(Buffer.from(JSON.stringify({ messages: [hi], ...chat }))));
}
