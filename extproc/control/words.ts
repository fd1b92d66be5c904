/** Control and format characters, line separators, halves of surrogate pairs. */
export const UNPLAIN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** True for a text that can stand in one line of a log, or of a terminal, and do nothing there. */
export function isPlain(text: string): boolean {
  return text.search(UNPLAIN) < 0;
}

/** The same for a text that came from elsewhere. */
export function clean(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replaceAll(UNPLAIN, " ");
}

/** To whoever asks for backends while there are none. */
export const NOBODY_SYNCS =
  "no gateway syncs with this service: is Envoy up, and does its policy's service.cluster lead to listen.http?";
