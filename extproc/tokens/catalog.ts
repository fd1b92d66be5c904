import type { Normalization } from "./upper-bound.js";

/** The vocabularies in vocab/, and how they normalize text. */
export const VOCABULARIES = {
  llama3: "none",
  qwen3: "nfc",
  deepseek: "none",
  tekken: "none",
  gemma3: "none",
  o200k: "none",
  cl100k: "none",
} as const satisfies Record<string, Normalization>;

export type VocabularyName = keyof typeof VOCABULARIES;

/** `openai` is a counting rule, the others are chat templates in vocab/. */
export interface ShippedFamily {
  readonly vocabulary: VocabularyName;
  readonly template: string;
}

/** What a model's prompts are counted with. Versions of one maker often share the vocabulary, seldom the template. */
export const FAMILIES = {
  llama3: { vocabulary: "llama3", template: "llama3" },
  "llama3.1": { vocabulary: "llama3", template: "llama3.1" },
  "llama3.2": { vocabulary: "llama3", template: "llama3.2" },
  "qwen2.5": { vocabulary: "qwen3", template: "qwen2.5" },
  qwen3: { vocabulary: "qwen3", template: "qwen3" },
  "qwen3-coder": { vocabulary: "qwen3", template: "qwen3-coder" },
  "deepseek-v3": { vocabulary: "deepseek", template: "deepseek-v3" },
  "deepseek-v3.1": { vocabulary: "deepseek", template: "deepseek-v3.1" },
  "mistral-v3": { vocabulary: "tekken", template: "mistral-v3" },
  "mistral-v7": { vocabulary: "tekken", template: "mistral-v7" },
  "mistral-v11": { vocabulary: "tekken", template: "mistral-v11" },
  gemma3: { vocabulary: "gemma3", template: "gemma3" },
  "gpt-oss": { vocabulary: "o200k", template: "gpt-oss" },
  o200k: { vocabulary: "o200k", template: "openai" },
  cl100k: { vocabulary: "cl100k", template: "openai" },
} as const satisfies Record<string, ShippedFamily>;

export type FamilyName = keyof typeof FAMILIES;

export const FAMILY_NAMES = Object.keys(FAMILIES) as [FamilyName, ...FamilyName[]];

/** Quantizations and packagings: other weights, the same prompt. */
const SUFFIX =
  "(-(fp8|fp4|nvfp4|bf16|awq|gptq|gguf|mlx|bnb|int[48]|w\\d+a\\d+|\\d+bits?|quantized|dynamic|turbo)\\b.*)?$";

const exactly = (pattern: string): RegExp => new RegExp(`^${pattern}${SUFFIX}`);

interface ModelRule {
  readonly pattern: RegExp;
  readonly family: FamilyName;
  /** Vocabulary and template are the model's own; else they are only like them. */
  readonly isExact: boolean;
}

const own = (family: FamilyName, pattern: RegExp): ModelRule => ({ pattern, family, isExact: true });
const like = (family: FamilyName, pattern: RegExp): ModelRule => ({ pattern, family, isExact: false });

/** The first rule that fits wins. Names are in lower case, without an organisation, with `-` for `_` and `:`. */
const MODEL_RULES: readonly ModelRule[] = [
  like("llama3.1", /^deepseek-r1-distill-llama/),
  like("qwen2.5", /^deepseek-r1-distill-qwen/),
  own("llama3", exactly("(meta-)?llama-?3-\\d+b-instruct")),
  own("llama3.1", exactly("(meta-)?llama-?3\\.[13]-\\d+b-instruct")),
  own("llama3.2", exactly("(meta-)?llama-?3\\.2-[13]b-instruct")),
  like("llama3.2", /llama-?3\.2/),
  like("llama3.1", /llama-?3\.|llama-?4|^llama/),
  like("llama3", /llama-?3/),
  own("qwen2.5", exactly("qwen-?2\\.5-(coder-)?[\\d.]+b-instruct")),
  own("qwen3", exactly("qwen-?3-[\\d.]+b(-a[\\d.]+b)?")),
  own("qwen3-coder", exactly("qwen-?3-coder-\\d+b-a\\d+b-instruct")),
  like("qwen3-coder", /^qwen-?3-coder/),
  like("qwen2.5", /^(qwen-?[12]|codeqwen)/),
  like("qwen3", /^(qwen|qwq|qvq)/),
  own("deepseek-v3", exactly("deepseek-v3(-0324)?")),
  own("deepseek-v3.1", exactly("deepseek-v3\\.1")),
  like("deepseek-v3", /^deepseek-(v3$|r1)/),
  like("deepseek-v3.1", /^deepseek/),
  own(
    "mistral-v3",
    exactly("((open-)?mistral-nemo(-instruct)?-2407|ministral-8b-instruct-2410|pixtral-12b-2409)"),
  ),
  like("mistral-v3", /^((open-)?mistral-nemo|ministral-8b|pixtral-12b|mixtral|(open-)?mistral-7b)/),
  like("mistral-v11", /^(magistral|devstral|mistral-(small|medium)-(3\.[2-9]|250[6-9]|251)|ministral-3)/),
  like("mistral-v7", /^(mistral|ministral|pixtral|codestral|voxtral)/),
  own("gemma3", exactly("gemma-?3-\\d+b-it")),
  like("gemma3", /gemma|^gemini/),
  // Servers differ in what they put into its system message.
  like("gpt-oss", /^gpt-oss/),
  own("o200k", /^(chatgpt-4o|gpt-4o|gpt-4\.1)(?!.*(audio|realtime|transcribe|tts))/),
  like("o200k", /^(gpt-4o|gpt-4\.|gpt-[5-9]|o\d|codex|computer-use)/),
  own("cl100k", /^(gpt-4|gpt-4-32k|gpt-3\.?5-turbo(-16k)?)(-\d{4})?$/),
  // Embeddings have no chat template.
  own("cl100k", /^text-embedding-(3-(small|large)|ada-002)$/),
  like("cl100k", /^(gpt-4|gpt-3)/),
];

/** The shipped family of a model, if its name tells one. */
export function findShipped(model: string): { family: FamilyName; isExact: boolean } | undefined {
  const bare = model.slice(model.lastIndexOf("/") + 1).replace(/[_:]/g, "-");
  return MODEL_RULES.find(({ pattern }) => pattern.test(bare));
}
