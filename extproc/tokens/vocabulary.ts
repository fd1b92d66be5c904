import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Tokenizer } from "tokenizers";
import { isRecord } from "../body/json.js";
import { applyEdits } from "../body/splice.js";
import { scanTopLevel } from "../body/top-level.js";
import { listWords, readMarks } from "./added-tokens.js";
import { asciiSplitter, type Splitter } from "./ascii-splitter.js";
import { Marks } from "./marks.js";
import { PieceCounter } from "./piece-counter.js";
import type { Normalization } from "./upper-bound.js";

/** A model family's tokenizer, used for text without special tokens only. */
export interface LoadedVocabulary {
  readonly normalization: Normalization;
  readonly marks: Marks;
  /** Tokens of all texts, off this thread's event loop. `withMarks` adds what the family puts around a bare text. */
  count(texts: readonly string[], withMarks: boolean): Promise<number>;
}

/**
 * Loads a Hugging Face tokenizer.json, gzipped or plain; takes 0.3–1.5 s and blocks, so it belongs in a thread.
 * Its special tokens are taken out: `<|endoftext|>` in a user's text is text, and templates count their marks apart.
 * @throws when the file is no tokenizer.
 */
export function loadVocabulary(file: string): LoadedVocabulary {
  const bytes = readFileSync(file);
  const definition = readDefinition(file.endsWith(".gz") ? gunzipSync(bytes) : bytes);
  const tokenizer = Tokenizer.fromString(definition.plain);
  const lengthsOf = async (texts: readonly string[], addSpecialTokens: boolean) => {
    const encodings = await tokenizer.encodeBatch([...texts], { addSpecialTokens });
    return encodings.map((encoding) => encoding.getLength());
  };
  const counter = new PieceCounter((texts) => lengthsOf(texts, false), definition.split);
  return {
    normalization: definition.normalization,
    marks: definition.marks,
    async count(texts, withMarks) {
      return withMarks ? sum(await lengthsOf(texts, true)) : counter.count(texts);
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

interface Definition {
  /** The tokenizer.json for plain text: no special tokens, no truncation, no padding. */
  plain: string;
  normalization: Normalization;
  marks: Marks;
  split: Splitter | undefined;
}

/** Members are cut out of the bytes: parsing and printing 30 MB of vocabulary would double the time to load. */
function readDefinition(bytes: Buffer): Definition {
  const members = new Map(scanTopLevel(bytes)?.members.map((member) => [member.key, member]));
  const readMember = (key: string): unknown => {
    const member = members.get(key);
    return member ? JSON.parse(bytes.toString("utf8", member.valueStart, member.valueEnd)) : undefined;
  };
  const model = members.get("model");
  if (model === undefined) throw new Error("it has no model");
  const added = readMember("added_tokens");
  const tokens: unknown[] = Array.isArray(added) ? added : [];
  const replaced = [
    ["added_tokens", listWords(tokens)],
    ["truncation", null],
    ["padding", null],
  ] as const;
  const edits = replaced.flatMap(([key, value]) => {
    const member = members.get(key);
    const spelled = Buffer.from(JSON.stringify(value));
    return member ? [{ start: member.valueStart, end: member.valueEnd, bytes: spelled }] : [];
  });
  // Settings stand before the vocabulary, which may hold any text.
  const settings = bytes.toString(
    "latin1",
    model.valueStart,
    Math.min(model.valueEnd, model.valueStart + 1000),
  );
  const normalization = readNormalization(readMember("normalizer"), /"byte_fallback":\s*true/.test(settings));
  const words = listWords(tokens).map((token) => (isRecord(token) ? String(token.content) : ""));
  return {
    plain: applyEdits(bytes, edits).toString("utf8"),
    normalization,
    marks: new Marks(readMarks(tokens)),
    split: normalization === "other" ? undefined : asciiSplitter(readMember("pre_tokenizer"), words),
  };
}

function readNormalization(normalizer: unknown, hasByteFallback: boolean): Normalization {
  // SentencePiece families fall back to bytes, where the same bound holds once their prefix is allowed for.
  if (!isRecord(normalizer)) return hasByteFallback ? "other" : "none";
  if (normalizer.type === "NFC") return "nfc";
  const isEmpty = Array.isArray(normalizer.normalizers) && normalizer.normalizers.length === 0;
  return isEmpty || swapsBlanks(normalizer) ? "none" : "other";
}

/** Gemma's: a blank becomes one other character, so that there are no more of them than there were bytes. */
function swapsBlanks({ type, pattern, content }: Readonly<Record<string, unknown>>): boolean {
  return type === "Replace" && isRecord(pattern) && pattern.String === " " && content === "▁";
}
