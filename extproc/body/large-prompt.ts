import type { Chat } from "./chat.js";
import { toPythonJson } from "./json.js";
import type { LargePrompt, Prompt } from "./prompt.js";
import { sizeOf } from "./text-size.js";

/** More pieces than any conversation has; each is an object to move between threads. */
const MAX_PIECES = 8192;

/**
 * The prompt as it is, or only its size when its text is over `maxTextBytes`: that much is never tokenized.
 * @throws RangeError when V8 can't print something nested that deep.
 */
export function boundPrompt(prompt: Prompt, maxTextBytes: number): Prompt {
  const large = measure(prompt);
  return large.bytes > maxTextBytes || large.pieces > MAX_PIECES ? { kind: "large", large } : prompt;
}

function measure(prompt: Prompt): LargePrompt {
  if (prompt.kind === "large") return prompt.large;
  if (prompt.kind === "chat") return measureTexts(textsOf(prompt.chat), 0);
  return measureTexts(prompt.completion.texts, prompt.completion.idCount);
}

function measureTexts(texts: readonly string[], idCount: number): LargePrompt {
  let bytes = 0;
  let mayGrow = false;
  for (const text of texts) {
    const size = sizeOf(text);
    bytes += size.bytes;
    mayGrow ||= size.mayGrow;
  }
  return { bytes, mayGrow, pieces: texts.length, idCount };
}

/** All text that a template may print, as long as it may be spelled. */
function textsOf({ messages, tools, responseSchema }: Chat): string[] {
  const texts = tools.map(toPythonJson);
  if (responseSchema !== undefined) texts.push(toPythonJson(responseSchema));
  for (const { role, name, text, reasoning, toolCalls } of messages) {
    texts.push(`${role} ${name ?? ""}\n`, text);
    if (reasoning) texts.push(reasoning);
    for (const call of toolCalls) {
      texts.push(
        call.name,
        typeof call.arguments === "string" ? call.arguments : toPythonJson(call.arguments),
      );
    }
  }
  return texts;
}
