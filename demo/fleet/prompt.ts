import type { ChatBody, CountPromptTokens } from "./settings.js";

/** All text of a prompt: message contents (strings or text parts), or the completion's prompt. */
export function promptText(body: ChatBody): string {
  if (typeof body.prompt === "string") return body.prompt;
  if (Array.isArray(body.prompt)) return body.prompt.join("\n");
  return (body.messages ?? []).map((message) => contentText(message.content)).join("\n");
}

/** The text of a message content: a string, or the text parts of a list. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) =>
      typeof part === "object" && part !== null && "text" in part && typeof part.text === "string"
        ? part.text
        : "",
    )
    .join("");
}

/** A rough count for runs without a vocabulary: four bytes a token. */
export const estimatePromptTokens: CountPromptTokens = async (body) =>
  Math.ceil(Buffer.byteLength(promptText(body)) / 4);

/**
 * A breaker's probe is known by its body, because the header that marks it is taken off before it leaves Envoy:
 * one user message "hi" with one token asked for.
 */
export function isProbe(body: ChatBody): boolean {
  const [first, ...rest] = body.messages ?? [];
  return rest.length === 0 && first?.role === "user" && first.content === "hi" && askedTokens(body) === 1;
}

/** The answer's token limit, 0 when none was asked for. */
export function askedTokens(body: ChatBody): number {
  return body.max_completion_tokens ?? body.max_tokens ?? 0;
}
