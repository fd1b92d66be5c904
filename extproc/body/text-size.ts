/**
 * Everything but the blocks that NFC never makes longer: Latin, Greek, Cyrillic, Armenian, Hangul, CJK, kana,
 * punctuation, symbols and emoji, without their combining marks, which reorder and recompose with neighbours.
 * Stated as plain ranges because `\p{M}` takes ten times as long on Chinese text.
 */
const MAY_GROW =
  /[\u0300-\u036f]|[\u0483-\u0489]|[\u0590-\u10ff\u1200-\u1fff]|[\u20d0-\u20ff]|[\u2adc\u2cef-\u2fff]|[\u302a-\u302f]|[\u3099\u309a]|[\ua66f-\uabff\ud7a4-\ufeff\ufff0-\uffff]|[\u{10000}-\u{1efff}\u{1fb00}-\u{1ffff}\u{2f800}-\u{10ffff}]/u;

/** How much text there is, whatever vocabulary it will be counted with. */
export interface TextSize {
  /** UTF-8 bytes. */
  readonly bytes: number;
  /** Whether NFC may make it longer; up to three times then (UAX #15). */
  readonly mayGrow: boolean;
}

/** Linear. */
export function sizeOf(text: string): TextSize {
  return { bytes: Buffer.byteLength(text, "utf8"), mayGrow: MAY_GROW.test(text) };
}
