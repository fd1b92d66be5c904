import { sizeOf, type TextSize } from "../body/text-size.js";

/** How a vocabulary normalizes text before it splits it; decides how many tokens its bytes can become. */
export type Normalization = "none" | "nfc" | "other";

/** UAX #15: NFC grows UTF-8 by 3 at most, the compatibility forms by 11. */
const NFC_GROWTH = 3;
const COMPATIBILITY_GROWTH = 11;

/** Unigram vocabularies put marks before words; one more token per text. */
const PREFIX_TOKENS = 1;

/**
 * A number of tokens that `text` never exceeds: every token of a byte-level vocabulary stands for one UTF-8 byte
 * at least. Linear; used where counting would cost too much.
 */
export function upperBoundTokens(text: string, normalization: Normalization): number {
  return upperBoundOfSize(sizeOf(text), normalization);
}

/** The same for a text of which only the size is known. */
export function upperBoundOfSize({ bytes, mayGrow }: TextSize, normalization: Normalization): number {
  if (normalization === "none") return bytes;
  if (normalization === "nfc") return mayGrow ? bytes * NFC_GROWTH : bytes;
  return bytes * COMPATIBILITY_GROWTH + PREFIX_TOKENS;
}
