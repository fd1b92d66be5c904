import type { JsonRecord } from "./json.js";
import { readOutputAsk } from "./output-ask.js";
import type { Reading } from "./prompt.js";

export interface CompletionPrompt {
  /** Texts to tokenize, each prompt on its own. */
  texts: string[];
  /** Tokens that came as ids. */
  idCount: number;
  /** How many prompts the request holds: each gets its own answer. */
  prompts: number;
}

/** More than anyone completes with a suffix; it is counted once for each. */
const MAX_SUFFIXES = 64;

/**
 * /v1/completions: the prompt is a string, a list of strings, token ids, or a list of lists of ids; or vLLM's
 * `prompt_token_ids`. Undefined for a shape that is not understood.
 */
export function readCompletion(body: JsonRecord): Reading | undefined {
  const completion = readTexts(body.prompt ?? body.prompt_token_ids);
  if (completion === undefined || (body.prompt_embeds ?? null) !== null) return undefined;
  const suffix = body.suffix ?? "";
  if (typeof suffix !== "string") return undefined;
  if (suffix !== "") {
    if (completion.prompts > MAX_SUFFIXES) return undefined;
    completion.texts.push(...Array<string>(completion.prompts).fill(suffix));
  }
  return {
    prompt: { kind: "completion", completion },
    output: readOutputAsk([body], completion.prompts),
  };
}

/** A text, texts, ids or lists of ids. */
export function readTexts(given: unknown): CompletionPrompt | undefined {
  if (typeof given === "string") return { texts: [given], idCount: 0, prompts: 1 };
  if (!Array.isArray(given) || given.length === 0) return undefined;
  if (isIds(given)) return { texts: [], idCount: given.length, prompts: 1 };
  const read: CompletionPrompt = { texts: [], idCount: 0, prompts: given.length };
  for (const one of given) {
    if (typeof one === "string") read.texts.push(one);
    else if (isIds(one)) read.idCount += one.length;
    else return undefined;
  }
  return read;
}

function isIds(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((id) => Number.isInteger(id));
}
