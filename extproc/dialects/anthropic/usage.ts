import { isRecord, type JsonRecord } from "../../body/json.js";

/**
 * Anthropic's counts as OpenAI's. Its `input_tokens` leave out what was read from or written to the cache.
 * `usages` are added to each other in order: a stream tells the prompt first and the answer at its end.
 */
export function toUsage(...usages: readonly unknown[]): JsonRecord {
  const counts: JsonRecord = Object.assign({}, ...usages.filter(isRecord).map(withoutNulls));
  const cached = countOf(counts.cache_read_input_tokens);
  const prompt = countOf(counts.input_tokens) + countOf(counts.cache_creation_input_tokens) + cached;
  const completion = countOf(counts.output_tokens);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/** A later event repeats only what it knows. */
function withoutNulls(usage: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
