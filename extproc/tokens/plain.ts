import type { Chat } from "../body/chat.js";
import { toPythonJson } from "../body/json.js";
import type { Rendered } from "./template.js";

/** Llama 3 spends the most among the common ones: two header marks, a double line break, an end mark, rounded up. */
const TOKENS_PER_MESSAGE = 5;

/** For models whose template we don't know: all text there is, with a generous flat cost per message and reply. */
export function renderPlain(chat: Chat): Rendered {
  const segments: string[] = chat.tools.map(toPythonJson);
  for (const message of chat.messages) {
    segments.push(message.role, message.text);
    if (message.name) segments.push(message.name);
    if (message.reasoning) segments.push(message.reasoning);
    for (const call of message.toolCalls) segments.push(call.name, spell(call.arguments));
  }
  if (chat.responseSchema !== undefined) segments.push(toPythonJson(chat.responseSchema));
  return { segments, overheadTokens: TOKENS_PER_MESSAGE * (chat.messages.length + 1), isExact: false };
}

function spell(value: unknown): string {
  return typeof value === "string" ? value : toPythonJson(value);
}
