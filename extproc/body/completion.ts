import type { JsonRecord } from "./json.js";

export interface CompletionPrompt {
  /** Texts to tokenize, each prompt on its own. */
  texts: string[];
  /** Tokens that came as ids. */
  idCount: number;
  /** How many prompts the request holds: each gets its own answer. */
  prompts: number;
}

/**
 * The `prompt` of /v1/completions: a string, a list of strings, token ids, or a list of lists of ids; and vLLM's
 * `prompt_token_ids`. Undefined for a shape that is not understood.
 */
export function readCompletionPrompt(body: JsonRecord): CompletionPrompt | undefined {
  const prompt = body.prompt ?? body.prompt_token_ids;
  const suffix = body.suffix ?? "";
  if (typeof suffix !== "string") return undefined;
  const read = readPrompt(prompt);
  if (read !== undefined && suffix !== "") read.texts.push(...Array<string>(read.prompts).fill(suffix));
  return read;
}

function readPrompt(prompt: unknown): CompletionPrompt | undefined {
  if (typeof prompt === "string") return { texts: [prompt], idCount: 0, prompts: 1 };
  if (!Array.isArray(prompt) || prompt.length === 0) return undefined;
  if (isIds(prompt)) return { texts: [], idCount: prompt.length, prompts: 1 };
  const read: CompletionPrompt = { texts: [], idCount: 0, prompts: prompt.length };
  for (const one of prompt) {
    if (typeof one === "string") read.texts.push(one);
    else if (isIds(one)) read.idCount += one.length;
    else return undefined;
  }
  return read;
}

function isIds(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((id) => Number.isInteger(id));
}
