/** How a vocabulary normalizes text before it splits it; decides how many tokens its bytes can become. */
export type Normalization = "none" | "nfc" | "other";

/**
 * Everything but the blocks that NFC never makes longer: Latin, Greek, Cyrillic, Armenian, Hangul, CJK, kana,
 * punctuation, symbols and emoji, without their combining marks, which reorder and recompose with neighbours.
 * Stated as plain ranges because `\p{M}` takes ten times as long on Chinese text.
 */
const MAY_GROW =
  /[\u0300-\u036f]|[\u0483-\u0489]|[\u0590-\u10ff\u1200-\u1fff]|[\u20d0-\u20ff]|[\u2adc\u2cef-\u2fff]|[\u302a-\u302f]|[\u3099\u309a]|[\ua66f-\uabff\ud7a4-\ufeff\ufff0-\uffff]|[\u{10000}-\u{1efff}\u{1fb00}-\u{1ffff}\u{2f800}-\u{10ffff}]/u;

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
  const bytes = Buffer.byteLength(text, "utf8");
  if (normalization === "none") return bytes;
  if (normalization === "nfc") return MAY_GROW.test(text) ? bytes * NFC_GROWTH : bytes;
  return bytes * COMPATIBILITY_GROWTH + PREFIX_TOKENS;
}
