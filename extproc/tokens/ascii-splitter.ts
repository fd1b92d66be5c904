import { isRecord } from "../body/json.js";

/** What a text's tokens never cross, in order; undefined for a text that only the tokenizer itself can split. */
export type Splitter = (text: string) => string[] | undefined;

const ASCII = /^[\0-\x7f]*$/;
/** Splitting runs on the thread; larger texts go to the library's own threads. Characters. */
const MAX_LENGTH = 16_384;
/** The one case-insensitive group that GPT-4's rule and all after it have; JavaScript can't say it so. */
const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const PLAIN_CONTRACTIONS = "(?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL]))";

/**
 * A vocabulary's own rule for splitting, for ASCII only: there JavaScript's classes and Oniguruma's agree, and NFC
 * changes nothing. Undefined for vocabularies that split in another way. `words` are tokens that are found before.
 */
export function asciiSplitter(preTokenizer: unknown, words: readonly string[]): Splitter | undefined {
  const source = splitPatternOf(preTokenizer);
  if (source === undefined) return undefined;
  const pattern = compile(source.replaceAll(CONTRACTIONS, PLAIN_CONTRACTIONS));
  if (pattern === undefined) return undefined;
  return (text) => {
    if (text.length > MAX_LENGTH || !ASCII.test(text)) return undefined;
    if (words.some((word) => text.includes(word))) return undefined;
    const pieces = text.match(pattern) ?? [];
    const covered = pieces.reduce((sum, piece) => sum + piece.length, 0);
    return covered === text.length ? pieces : undefined;
  };
}

/** One Split by a pattern, then bytes: how tiktoken's vocabularies are spelled. */
function splitPatternOf(preTokenizer: unknown): string | undefined {
  if (!isRecord(preTokenizer) || !Array.isArray(preTokenizer.pretokenizers)) return undefined;
  const [split, bytes, ...others]: unknown[] = preTokenizer.pretokenizers;
  if (others.length > 0 || !isRecord(split) || !isRecord(bytes)) return undefined;
  if (split.type !== "Split" || bytes.type !== "ByteLevel") return undefined;
  if (bytes.use_regex !== false || bytes.add_prefix_space !== false) return undefined;
  const keepsAll =
    (split.behavior === "Isolated" && split.invert === false) ||
    (split.behavior === "Removed" && split.invert === true);
  if (!keepsAll || !isRecord(split.pattern)) return undefined;
  return typeof split.pattern.Regex === "string" ? split.pattern.Regex : undefined;
}

function compile(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "gu");
  } catch {
    return undefined;
  }
}
