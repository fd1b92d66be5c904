import { translateToAnthropic } from "./anthropic/translate.js";
import type { Translate } from "./dialect.js";

/** What cluster metadata `dialect` may name. */
export const DIALECTS = { anthropic: translateToAnthropic } as const satisfies Record<string, Translate>;

export type DialectName = keyof typeof DIALECTS;
