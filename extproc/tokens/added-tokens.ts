import { isRecord, type JsonRecord } from "../body/json.js";
import type { Mark } from "./marks.js";

/** Control tokens that their makers did not declare special: `<|fim_prefix|>`, DeepSeek's `<｜User｜>`. */
const CONTROL_SHAPE = /^<[|｜].+[|｜]>$/;

/** The special tokens among the added ones of a tokenizer.json or tokenizer_config.json. */
export function readMarks(added: readonly unknown[]): Mark[] {
  return added.filter(isMark).map(({ content, lstrip, rstrip }) => ({
    content: String(content),
    lstrip: lstrip === true,
    rstrip: rstrip === true,
  }));
}

/** The added tokens that are words to a model: `<think>`, Gemma's HTML tags. Read in any text, as servers do. */
export function listWords(added: readonly unknown[]): unknown[] {
  return added.filter((token) => !isMark(token));
}

function isMark(token: unknown): token is JsonRecord {
  if (!isRecord(token) || typeof token.content !== "string") return false;
  return token.special === true || CONTROL_SHAPE.test(token.content);
}
