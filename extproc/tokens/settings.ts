import { existsSync } from "node:fs";
import { z } from "zod";
import { count, duration, globs, text } from "../config/fields.js";
import { FAMILY_NAMES } from "./catalog.js";
import { TEMPLATE_NAMES } from "./template-names.js";

const familyName = z.enum(FAMILY_NAMES);
const existingFile = (what: string) =>
  text.refine((path) => existsSync(path), `must be a ${what} that exists`);

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
    largeConcurrency: count(1).default(1).describe("So many large texts are tokenized at once."),
    defaultFamily: familyName
      .default("qwen3")
      .describe("What a model that no pattern knows is counted with; its counts are never `exact`."),
    preload: z
      .array(familyName, "must be a list of families")
      .optional()
      .describe("Families that are loaded before the ports open; `[defaultFamily]` when absent."),
    maxVocabularies: count(1, 32)
      .default(3)
      .describe("So many vocabularies stay in memory, 90 to 500 MB each; the least recently used one goes."),
    imageTokens: count(0)
      .default(765)
      .describe("Flat cost of a picture: a 1024 × 1024 one in high detail by OpenAI's rule. Tokens."),
    audioTokens: count(0)
      .default(300)
      .describe("Flat cost of a sound: 30 s at OpenAI's 10 tokens a second. Tokens."),
  })
  .prefault({})
  .describe("What bounds a count.");

const template = z
  .union(
    [
      z.enum(TEMPLATE_NAMES),
      z.strictObject({
        file: existingFile("tokenizer_config.json").describe(
          "A Hugging Face tokenizer_config.json, whose chat template may stand beside it as chat_template.jinja.",
        ),
      }),
    ],
    `must be one of ${TEMPLATE_NAMES.join(", ")}, or {file: tokenizer_config.json}`,
  )
  .describe("How a chat is spelled for the model; with `family` its own when absent, else `plain`.");

const tokenizer = z
  .strictObject({
    models: globs.describe("Patterns of model names; `*` stands for any text."),
    family: familyName.optional().describe("A shipped family."),
    file: existingFile("tokenizer.json")
      .optional()
      .describe("A Hugging Face tokenizer.json, gzipped or plain."),
    template: template.optional(),
  })
  .refine(
    ({ family, file }) => (family === undefined) !== (file === undefined),
    "must have either family or file",
  );

export const tokenizersSettings = z
  .array(tokenizer)
  .default([])
  .describe(
    "Families and operator's own vocabularies by model; the first whose pattern fits wins over the shipped ones.",
  );

/** What bounds a count. Sizes in UTF-8 bytes, times in milliseconds, flat costs in tokens. */
export type TokenLimits = Readonly<z.output<typeof tokensSettings>>;

export type TokenizerSettings = Readonly<z.output<typeof tokenizer>>;

/** What the service is told of tokenizers. */
export interface TokenSettings {
  readonly tokens: TokenLimits;
  readonly tokenizers: Readonly<z.output<typeof tokenizersSettings>>;
}
