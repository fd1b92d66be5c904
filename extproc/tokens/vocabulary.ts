import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Tokenizer } from "tokenizers";
import { isRecord } from "../body/json.js";
import { applyEdits } from "../body/splice.js";
import { scanTopLevel } from "../body/top-level.js";
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
 * Loads a Hugging Face tokenizer.json, gzipped or plain; takes 0.5–0.7 s and blocks, so it belongs before listening.
 * Its added tokens are taken out: `<|endoftext|>` in a user's text is text, and templates count their marks apart.
 * @throws when the file is no tokenizer.
 */
export function loadVocabulary(file: string): Vocabulary {
  const bytes = readFileSync(file);
  const definition = readDefinition(file.endsWith(".gz") ? gunzipSync(bytes) : bytes);
  const tokenizer = Tokenizer.fromString(definition.plain);
  const { normalization, marks } = definition;
  return {
    normalization,
    imitatesMark: (candidate) => marks?.test(candidate) ?? false,
    async count(texts, withMarks) {
      const encodings = await tokenizer.encodeBatch([...texts], { addSpecialTokens: withMarks });
      return encodings.reduce((sum, encoding) => sum + encoding.getLength(), 0);
    },
  };
}

interface Definition {
  /** The tokenizer.json for plain text: no added tokens, no truncation, no padding. */
  plain: string;
  normalization: Normalization;
  marks: RegExp | undefined;
}

/** Members are cut out of the bytes: parsing and printing 10 MB of vocabulary would double the time to start. */
function readDefinition(bytes: Buffer): Definition {
  const members = new Map(scanTopLevel(bytes)?.members.map((member) => [member.key, member]));
  const textOf = (key: string) => {
    const member = members.get(key);
    return member ? bytes.toString("utf8", member.valueStart, member.valueEnd) : "null";
  };
  const model = members.get("model");
  if (model === undefined) throw new Error("it has no model");
  const emptied = [
    ["added_tokens", "[]"],
    ["truncation", "null"],
    ["padding", "null"],
  ] as const;
  const edits = emptied.flatMap(([key, value]) => {
    const member = members.get(key);
    return member ? [{ start: member.valueStart, end: member.valueEnd, bytes: Buffer.from(value) }] : [];
  });
  // Settings stand before the vocabulary, which may hold any text.
  const settings = bytes.toString(
    "latin1",
    model.valueStart,
    Math.min(model.valueEnd, model.valueStart + 1000),
  );
  return {
    plain: applyEdits(bytes, edits).toString("utf8"),
    normalization: readNormalization(
      JSON.parse(textOf("normalizer")),
      /"byte_fallback":\s*true/.test(settings),
    ),
    marks: readMarks(JSON.parse(textOf("added_tokens"))),
  };
}

function readMarks(added: unknown): RegExp | undefined {
  const tokens: unknown[] = Array.isArray(added) ? added : [];
  const contents = tokens.flatMap((token) =>
    isRecord(token) && token.content ? [String(token.content)] : [],
  );
  if (contents.length === 0) return undefined;
  return new RegExp(contents.map((content) => content.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"));
}

function readNormalization(normalizer: unknown, hasByteFallback: boolean): Normalization {
  // SentencePiece families fall back to bytes, where the same bound holds once their prefix is allowed for.
  if (!isRecord(normalizer)) return hasByteFallback ? "other" : "none";
  return normalizer.type === "NFC" ? "nfc" : "other";
}
