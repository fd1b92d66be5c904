import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Template } from "@huggingface/jinja";
import { isRecord, type JsonRecord } from "../body/json.js";
import { readMarks } from "./added-tokens.js";
import type { Mark } from "./marks.js";

/** A compiled chat template and what its file says besides. */
export interface TemplateFile {
  /** The one for chats with tools; most models have one for all. */
  readonly withTools: Template;
  readonly withoutTools: Template;
  readonly bosToken: string;
  readonly eosToken: string;
  /** Special tokens that the vocabulary's own file may lack. */
  readonly marks: readonly Mark[];
  /** Words that the vocabulary's file has as one token, but not this model's own. */
  readonly plainWords: readonly string[];
}

/** A template of more characters is none that a model came with. */
const MAX_TEMPLATE_LENGTH = 262_144;

/**
 * Reads a Hugging Face tokenizer_config.json; its template may stand beside it as chat_template.jinja, as newer
 * models have it.
 * @throws when there is no template, or one that is not Jinja.
 */
export function readTemplateFile(file: string): TemplateFile {
  const config: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!isRecord(config)) throw new Error("it is no JSON object");
  const plain = compile(findTemplate(config, "default", file));
  const tools = Array.isArray(config.chat_template) ? findTemplate(config, "tool_use", file) : undefined;
  return {
    withoutTools: plain,
    withTools: tools === undefined ? plain : compile(tools),
    bosToken: spell(config.bos_token),
    eosToken: spell(config.eos_token),
    plainWords: Array.isArray(config.plain_words) ? config.plain_words.map(String) : [],
    marks: isRecord(config.added_tokens_decoder) ? readMarks(Object.values(config.added_tokens_decoder)) : [],
  };
}

/** `chat_template` is a text, or a list of named ones. */
function findTemplate(config: JsonRecord, name: string, file: string): string | undefined {
  const given = config.chat_template;
  if (typeof given === "string") return given;
  if (Array.isArray(given)) {
    const named = given.find((entry) => isRecord(entry) && entry.name === name);
    return isRecord(named) && typeof named.template === "string" ? named.template : undefined;
  }
  const beside = join(dirname(file), "chat_template.jinja");
  return existsSync(beside) ? readFileSync(beside, "utf8") : undefined;
}

function compile(source: string | undefined): Template {
  if (source === undefined) throw new Error("it has no chat_template");
  if (source.length > MAX_TEMPLATE_LENGTH) throw new Error("its chat_template is too long");
  return new Template(source);
}

/** A token is spelled as a text or as an object with its flags. */
function spell(token: unknown): string {
  const content = isRecord(token) ? token.content : token;
  return typeof content === "string" ? content : "";
}
