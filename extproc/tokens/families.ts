import { join } from "node:path";
import { ConfigError } from "../config/errors.js";
import { findRepoRoot } from "../root.js";
import { FAMILY_NAMES, type FamilyName, type TokenSettings } from "./settings.js";
import { TEMPLATES, type Template } from "./template.js";
import { loadVocabulary, type Vocabulary } from "./vocabulary.js";

/** How one model's prompts are counted. */
export interface Family {
  vocabulary: Vocabulary;
  template: Template;
  /** False when vocabulary or template are only like the model's own. */
  isExact: boolean;
}

/** `exact` names the models whose chat template is the one we render; `like` those that share the vocabulary. */
const SHIPPED = {
  qwen3: {
    template: TEMPLATES.chatml,
    exact: /^qwen3-[\d.]+b(-a[\d.]+b)?(-fp8|-awq|-gptq.*|-gguf)?$/,
    like: /^(qwen|qwq|qvq)/,
  },
  o200k: {
    template: TEMPLATES.openai,
    exact: /^(chatgpt-4o|gpt-4o|gpt-4\.1)(?!.*(audio|realtime|transcribe|tts))/,
    like: /^(gpt-4o|gpt-4\.|gpt-5|gpt-oss|o\d|codex|computer-use)/,
  },
} as const;

/** Finds a family by the model's name; built once at start, since loading vocabularies blocks. */
export class Families {
  private constructor(
    private readonly own: { pattern: RegExp; family: Family }[],
    private readonly shipped: Record<FamilyName, Vocabulary>,
    private readonly defaultFamily: FamilyName,
  ) {}

  /** @throws ConfigError when an operator's file is no tokenizer. */
  static load(settings: TokenSettings): Families {
    const folder = join(findRepoRoot(), "extproc", "tokens", "vocab");
    const own = settings.tokenizers.flatMap(({ models, file, template }, index) => {
      const vocabulary = loadOwn(file, index);
      const family = { vocabulary, template: TEMPLATES[template], isExact: template !== "plain" };
      return models.map((model) => ({ pattern: globToRegExp(model), family }));
    });
    const shipped = {
      qwen3: loadVocabulary(join(folder, "qwen3.json.gz")),
      o200k: loadVocabulary(join(folder, "o200k.json.gz")),
    };
    return new Families(own, shipped, settings.tokens.defaultFamily);
  }

  /** The default family, never exact, for a model that nothing is known of. */
  find(model: string | undefined): Family {
    const full = (model ?? "").toLowerCase().slice(0, 200);
    const bare = full.slice(full.lastIndexOf("/") + 1);
    const own = this.own.find(({ pattern }) => pattern.test(full) || pattern.test(bare));
    if (own) return own.family;
    for (const name of FAMILY_NAMES) {
      const isExact = SHIPPED[name].exact.test(bare);
      if (isExact || SHIPPED[name].like.test(bare)) return this.ship(name, isExact);
    }
    return this.ship(this.defaultFamily, false);
  }

  private ship(name: FamilyName, isExact: boolean): Family {
    return { vocabulary: this.shipped[name], template: SHIPPED[name].template, isExact };
  }
}

function loadOwn(file: string, index: number): Vocabulary {
  try {
    return loadVocabulary(file);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const rule = `must be a Hugging Face tokenizer.json, got ${file}: ${reason}`;
    throw ConfigError.of(["tokenizers", index, "file"], rule, cause);
  }
}

/** `*` stands for any text; the rest is literal. Names are compared in lower case. */
export function globToRegExp(pattern: string): RegExp {
  const parts = pattern.toLowerCase().split("*");
  return new RegExp(`^${parts.map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`);
}
