import type { Media } from "./chat.js";
import { readChat } from "./chat-completion.js";
import { readTexts } from "./completion.js";
import { isRecord, type JsonRecord } from "./json.js";
import { NO_OUTPUT } from "./output-ask.js";
import type { Reading } from "./prompt.js";

/**
 * /v1/embeddings: a string, strings, ids or lists of ids; objects with a text or a picture each, as Jina takes them;
 * or a chat, as vLLM takes one. Nothing is generated.
 */
export function readEmbeddings(body: JsonRecord, media: Media): Reading | undefined {
  if (body.messages !== undefined) {
    const chat = readChat(body, media);
    return chat && { prompt: { kind: "chat", chat }, output: NO_OUTPUT };
  }
  const completion = readTexts(Array.isArray(body.input) ? readItems(body.input, media) : body.input);
  return completion && { prompt: { kind: "completion", completion }, output: NO_OUTPUT };
}

function readItems(items: readonly unknown[], media: Media): unknown[] {
  return items.map((item) => {
    if (!isRecord(item)) return item;
    if (typeof item.image !== "string") return item.text;
    media.images++;
    return item.text ?? "";
  });
}
