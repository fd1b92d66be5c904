import { isRecord, type JsonRecord } from "../../body/json.js";
import { Untranslatable } from "../untranslatable.js";

/**
 * A message's content as blocks of Messages. Blank texts are left out, since they are refused there.
 * @throws Untranslatable for content that has no counterpart (sounds, say): an answer without it would be wrong.
 */
export function blocksOf(content: unknown): JsonRecord[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return textBlock(content);
  if (!Array.isArray(content)) throw new Untranslatable("content that is no text and no list");
  return content.flatMap(blockOf);
}

/** @throws Untranslatable for content that is not only text. */
export function textOf(content: unknown): string {
  const texts = blocksOf(content).map(({ text }) => text);
  if (texts.some((text) => typeof text !== "string"))
    throw new Untranslatable("a picture where text belongs");
  return texts.join("\n");
}

function textBlock(text: string): JsonRecord[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function blockOf(part: unknown): JsonRecord[] {
  if (typeof part === "string") return textBlock(part);
  if (!isRecord(part)) throw new Untranslatable("a part of content that is no object");
  switch (part.type) {
    case "text":
      if (typeof part.text === "string") return textBlock(part.text);
      break;
    case "refusal":
      if (typeof part.refusal === "string") return textBlock(part.refusal);
      break;
    case "image_url":
      return [
        { type: "image", source: sourceOf(isRecord(part.image_url) ? part.image_url.url : part.image_url) },
      ];
    case "file":
      return [{ type: "document", source: pdfOf(part.file) }];
  }
  throw new Untranslatable("a part of content of another kind");
}

/** `data:image/png;base64,…` is taken apart; any other address is for Anthropic to fetch. */
function sourceOf(url: unknown): JsonRecord {
  if (typeof url !== "string") throw new Untranslatable("a picture without an address");
  if (/^https?:/.test(url)) return { type: "url", url };
  const [head = "", data = ""] = splitOnce(url, ",");
  const mediaType = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=.-]+)*;base64$/.exec(head)?.[1];
  if (mediaType === undefined) throw new Untranslatable("a picture that is not in base64");
  return { type: "base64", media_type: mediaType, data };
}

function pdfOf(file: unknown): JsonRecord {
  const source = sourceOf(isRecord(file) ? file.file_data : undefined);
  if (source.media_type !== "application/pdf") throw new Untranslatable("a file that is no PDF");
  return source;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
