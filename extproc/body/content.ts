import type { Media } from "./chat.js";
import { isRecord } from "./json.js";

const IMAGE_PARTS = new Set([
  "image_url",
  "image",
  "input_image",
  "image_embeds",
  "image_pil",
  "video_url",
  "video",
]);
const AUDIO_PARTS = new Set(["input_audio", "audio_url", "audio"]);
const TEXT_PARTS = new Set([
  "text",
  "input_text",
  "output_text",
  "refusal",
  "summary_text",
  "reasoning_text",
]);

/**
 * The text of a message's content: a string, or parts that are joined by line breaks. Pictures and sounds are counted
 * into `media`, their bytes never become text. Undefined for what is not understood, files among it.
 */
export function readContent(content: unknown, media: Media): string | undefined {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const texts: string[] = [];
  for (const part of content) {
    const text = typeof part === "string" ? part : readPart(part, media);
    if (text === undefined) return undefined;
    if (text !== MEDIA) texts.push(text);
  }
  return texts.join("\n");
}

/** Stands for a part that is no text. */
const MEDIA = Symbol("media");

function readPart(part: unknown, media: Media): string | typeof MEDIA | undefined {
  if (!isRecord(part) || typeof part.type !== "string") return undefined;
  if (IMAGE_PARTS.has(part.type)) {
    media.images++;
    return MEDIA;
  }
  if (AUDIO_PARTS.has(part.type)) {
    media.audio++;
    return MEDIA;
  }
  if (part.type === "thinking") return readThought(part.thinking);
  const text = part.text ?? part.refusal;
  return TEXT_PARTS.has(part.type) && typeof text === "string" ? text : undefined;
}

/** A string, or Mistral's list of text parts. */
function readThought(thinking: unknown): string | undefined {
  if (typeof thinking === "string") return thinking;
  if (!Array.isArray(thinking)) return undefined;
  const texts = thinking.map((part) => (isRecord(part) ? part.text : undefined));
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : undefined;
}
