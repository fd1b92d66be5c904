import { existsSync } from "node:fs";
import { z } from "zod";
import { count, duration, globs, text } from "../config/fields.js";
import { TEMPLATE_NAMES } from "./template.js";

/** The vocabularies that are shipped. */
export const FAMILY_NAMES = ["qwen3", "o200k"] as const;

export type FamilyName = (typeof FAMILY_NAMES)[number];

export const tokensSettings = z
  .strictObject({
    maxTextBytes: count(0)
      .default(262_144)
      .describe("Texts above it get an upper bound instead of a count. UTF-8 bytes per request."),
    timeLimit: duration
      .prefault("150ms")
      .describe("A count that takes longer is answered by its upper bound."),
    largeTextBytes: count(1)
      .default(16_384)
      .describe("From here on a text is large and waits for one of `largeConcurrency` places. UTF-8 bytes."),
    largeConcurrency: count(1).default(2).describe("So many large texts are tokenized at once."),
    defaultFamily: z
      .enum(FAMILY_NAMES)
      .default("qwen3")
      .describe("What a model that no pattern knows is counted with; its counts are never `exact`."),
    imageTokens: count(0)
      .default(765)
      .describe("Flat cost of a picture: a 1024 × 1024 one in high detail by OpenAI's rule. Tokens."),
    audioTokens: count(0)
      .default(300)
      .describe("Flat cost of a sound: 30 s at OpenAI's 10 tokens a second. Tokens."),
  })
  .prefault({})
  .describe("What bounds a count.");

const tokenizer = z.strictObject({
  models: globs.describe("Patterns of model names; `*` stands for any text."),
  file: text
    .refine((path) => existsSync(path), "must be a tokenizer.json that exists")
    .describe("A Hugging Face tokenizer.json, gzipped or plain."),
  template: z.enum(TEMPLATE_NAMES).default("plain").describe("How a chat is spelled for the model."),
});

export const tokenizersSettings = z
  .array(tokenizer)
  .default([])
  .describe("Operator's own vocabularies; the first whose pattern fits wins over the shipped ones.");

/** What bounds a count. Sizes in UTF-8 bytes, times in milliseconds, flat costs in tokens. */
export type TokenLimits = Readonly<z.output<typeof tokensSettings>>;

/** What the service is told of tokenizers. */
export interface TokenSettings {
  readonly tokens: TokenLimits;
  readonly tokenizers: Readonly<z.output<typeof tokenizersSettings>>;
}
