import { statSync } from "node:fs";
import { ConfigError } from "../config/errors.js";
import { FAMILIES, type FamilyName, findShipped, VOCABULARIES, type VocabularyName } from "./catalog.js";
import type { CountAsk, CountReply, SourceFile } from "./protocol.js";
import type { TokenizerSettings, TokenSettings } from "./settings.js";
import type { VocabularyStore } from "./store.js";
import { shippedFile, type Template, templateNamed } from "./template.js";
import { readTemplateFile } from "./template-file.js";
import type { Normalization } from "./upper-bound.js";

/** A vocabulary as it is seen from outside its thread. */
export interface Vocabulary {
  readonly normalization: Normalization;
  /** Undefined, at once, while it is not loaded; also when its turn has not come until `untilMs`, by `Date.now()`. */
  count(ask: CountAsk, untilMs?: number): Promise<CountReply | undefined>;
}

/** How one model's prompts are counted. */
export interface Family {
  /** A family's own, or "own" for an operator's file. */
  readonly name: string;
  readonly vocabulary: Vocabulary;
  readonly template: Template;
  /** False when vocabulary or template are only like the model's own. */
  readonly isExact: boolean;
}

interface OwnFamily {
  readonly patterns: readonly RegExp[];
  readonly family: Family;
}

/** Where a setting stands in the file. */
type Field = readonly (string | number)[];

/** Finds a family by the model's name. */
export class Families {
  private constructor(
    private readonly store: VocabularyStore,
    private readonly own: readonly OwnFamily[],
    private readonly defaultFamily: FamilyName,
  ) {}

  /**
   * Checks the operator's files and loads what `tokens.preload` names; the rest is loaded when it is first used.
   * @throws ConfigError when an operator's file is no tokenizer or no template.
   */
  static async load({ tokens, tokenizers }: TokenSettings, store: VocabularyStore): Promise<Families> {
    store.maxVocabularies = tokens.maxVocabularies;
    const preloaded = new Set(
      (tokens.preload ?? [tokens.defaultFamily]).map((name) => FAMILIES[name].vocabulary),
    );
    const [own] = await Promise.all([
      Promise.all(tokenizers.map((tokenizer, index) => loadOwn(tokenizer, ["tokenizers", index], store))),
      Promise.all([...preloaded].map((name) => store.load(sourceOf(name)))),
    ]);
    return new Families(store, own, tokens.defaultFamily);
  }

  /** The default family, never exact, for a model that nothing is known of. */
  find(model: string | undefined): Family {
    const full = (model ?? "").slice(0, 200).toLowerCase();
    const bare = full.slice(full.lastIndexOf("/") + 1);
    const own = this.own.find(({ patterns }) =>
      patterns.some((pattern) => pattern.test(full) || pattern.test(bare)),
    );
    if (own) return own.family;
    const { family, isExact } = findShipped(full) ?? { family: this.defaultFamily, isExact: false };
    return shippedFamily(family, isExact, this.store);
  }
}

function shippedFamily(name: FamilyName, isExact: boolean, store: VocabularyStore): Family {
  const { vocabulary, template } = FAMILIES[name];
  const source = sourceOf(vocabulary);
  return {
    name,
    vocabulary: handleOf(source, VOCABULARIES[vocabulary], store),
    template: templateNamed(template),
    isExact,
  };
}

async function loadOwn(
  { models, file, family, template }: TokenizerSettings,
  field: Field,
  store: VocabularyStore,
): Promise<OwnFamily> {
  const patterns = models.map(globToRegExp);
  const given = template === undefined ? undefined : readOwnTemplate(template, field);
  if (family !== undefined) {
    const shipped = shippedFamily(family, true, store);
    return { patterns, family: given === undefined ? shipped : { ...shipped, template: given } };
  }
  const { source, normalization } = await loadOwnFile(file ?? "", field, store);
  const vocabulary = handleOf(source, normalization, store);
  return {
    patterns,
    family: { name: "own", vocabulary, template: given ?? templateNamed("plain"), isExact: true },
  };
}

async function loadOwnFile(file: string, field: Field, store: VocabularyStore) {
  try {
    const source = versioned(file);
    return { source, normalization: await store.load(source) };
  } catch (cause) {
    throw configError([...field, "file"], `a Hugging Face tokenizer.json, got ${file}`, cause);
  }
}

function readOwnTemplate(template: NonNullable<TokenizerSettings["template"]>, field: Field): Template {
  if (typeof template === "string") return templateNamed(template);
  try {
    readTemplateFile(template.file);
    return { kind: "file", source: versioned(template.file) };
  } catch (cause) {
    throw configError(
      [...field, "template", "file"],
      `a Hugging Face tokenizer_config.json, got ${template.file}`,
      cause,
    );
  }
}

function configError(field: Field, rule: string, cause: unknown): ConfigError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return ConfigError.of(field, `must be ${rule}: ${reason}`, cause);
}

function handleOf(source: SourceFile, normalization: Normalization, store: VocabularyStore): Vocabulary {
  return { normalization, count: (ask, untilMs) => store.count(source, ask, untilMs) };
}

function sourceOf(name: VocabularyName): SourceFile {
  return shippedFile(`${name}.json.gz`);
}

function versioned(file: string): SourceFile {
  const { mtimeMs, size } = statSync(file);
  return { file, version: `${mtimeMs} ${size}` };
}

/** `*` stands for any text; the rest is literal. Names are compared in lower case. */
export function globToRegExp(pattern: string): RegExp {
  const parts = pattern.toLowerCase().split("*");
  return new RegExp(`^${parts.map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`);
}
