/** How a vocabulary normalizes text before it splits it; decides how many tokens its bytes can become. */
export type Normalization = "none" | "nfc" | "other";

/**
 * Text whose NFC form may be longer: combining marks reorder and recompose with their neighbours, and the other
 * ranges hold the characters that NFC takes apart for good (composition exclusions, compatibility ideographs).
 */
const MAY_GROW =
  /\p{M}|[\u0958-\u0fff]|\u2adc|[\uf900-\ufaff]|[\ufb1d-\ufb4e]|[\u{1d15e}-\u{1d1c0}]|[\u{2f800}-\u{2fa1d}]/u;

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
