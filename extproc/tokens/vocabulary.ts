import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Tokenizer } from "tokenizers";
import { isRecord, type JsonRecord } from "../body/json.js";
import type { Normalization } from "./upper-bound.js";

// One text must not take every core: the library would spread a batch over all of them.
process.env.TOKENIZERS_PARALLELISM ??= "false";

/** A model family's tokenizer, used for plain text only. */
export interface Vocabulary {
  readonly normalization: Normalization;
  /** True when a text imitates a special token, which servers may read as that one token. */
  imitatesMark(text: string): boolean;
  /** Tokens of all texts, off the event loop. `withMarks` adds what the family puts around a bare text (Llama's BOS). */
  count(texts: readonly string[], withMarks: boolean): Promise<number>;
}

/**
 * Loads a Hugging Face tokenizer.json, gzipped or plain; takes 0.7–1 s and blocks, so it belongs before listening.
 * Its added tokens are taken out: `<|endoftext|>` in a user's text is text, and templates count their marks apart.
 * @throws when the file is no tokenizer.
 */
export function loadVocabulary(file: string): Vocabulary {
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  const definition: unknown = JSON.parse(text);
  if (!isRecord(definition) || !isRecord(definition.model)) throw new Error("not a tokenizer.json");
  const tokenizer = Tokenizer.fromString(
    JSON.stringify({ ...definition, added_tokens: [], truncation: null, padding: null }),
  );
  const marks = readMarks(definition);
  return {
    normalization: readNormalization(definition),
    imitatesMark: (candidate) => marks?.test(candidate) ?? false,
    async count(texts, withMarks) {
      const encodings = await tokenizer.encodeBatch([...texts], { addSpecialTokens: withMarks });
      return encodings.reduce((sum, encoding) => sum + encoding.getLength(), 0);
    },
  };
}

function readMarks(definition: JsonRecord): RegExp | undefined {
  const added = Array.isArray(definition.added_tokens) ? definition.added_tokens : [];
  const contents = added.flatMap((token) =>
    isRecord(token) && token.content ? [String(token.content)] : [],
  );
  if (contents.length === 0) return undefined;
  return new RegExp(contents.map((content) => content.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"));
}

function readNormalization(definition: JsonRecord): Normalization {
  const normalizer = definition.normalizer;
  const model = definition.model;
  // SentencePiece families end in `byte_fallback`, where the same bound holds once their prefix is allowed for.
  if (!isRecord(normalizer)) return isRecord(model) && model.byte_fallback === true ? "other" : "none";
  return normalizer.type === "NFC" ? "nfc" : "other";
}
