import type { TemplateName } from "./template.js";

/** The vocabularies that are shipped. */
export const FAMILY_NAMES = ["qwen3", "o200k"] as const;

export type FamilyName = (typeof FAMILY_NAMES)[number];

/** What bounds a count. Sizes in UTF-8 bytes, times in milliseconds, flat costs in tokens. */
export interface TokenLimits {
  readonly maxParseBytes: number;
  readonly maxTextBytes: number;
  readonly timeLimit: number;
  readonly largeTextBytes: number;
  readonly largeConcurrency: number;
  readonly imageTokens: number;
  readonly audioTokens: number;
}

/** What the service is told of tokenizers. */
export interface TokenSettings {
  readonly tokens: TokenLimits & { readonly defaultFamily: FamilyName };
  readonly tokenizers: readonly { models: string[]; file: string; template: TemplateName }[];
}
