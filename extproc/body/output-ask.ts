import type { JsonRecord } from "./json.js";

/**
 * How much output a request asks for. `answers` is n × prompts. `odd`: a value that servers would refuse or read
 * in their own way, so nothing may be concluded from it.
 */
export type OutputAsk =
  | { kind: "limited"; answers: number; tokensEach: number }
  | { kind: "unlimited"; answers: number }
  | { kind: "odd" };

/** Of embeddings, of a count: nothing is generated. */
export const NO_OUTPUT: OutputAsk = { kind: "limited", answers: 0, tokensEach: 0 };

/** The names of the output's limit, over all servers. */
const LIMITS = [
  "max_completion_tokens",
  "max_tokens",
  "max_output_tokens",
  "max_new_tokens",
  "max_tokens_to_sample",
  "n_predict",
] as const;

/** The names of the number of answers. Several name the same answers, so the largest counts. */
const ANSWERS = ["n", "best_of", "beam_width"] as const;

/**
 * Reads the ask from all places where a dialect may state it. A request may name several limits, and which of them
 * counts is the server's choice: the largest is taken.
 */
export function readOutputAsk(sources: readonly JsonRecord[], prompts: number): OutputAsk {
  const answersEach = readAll(sources, ANSWERS);
  const limits = readAll(sources, LIMITS);
  if (answersEach === undefined || limits === undefined) return { kind: "odd" };
  if (answersEach.some((answers) => answers < 1)) return { kind: "odd" };
  const answers = largest(answersEach, 1) * prompts;
  // -1 is llama.cpp's "no limit".
  if (limits.length === 0 || limits.some((limit) => limit < 0)) return { kind: "unlimited", answers };
  return { kind: "limited", answers, tokensEach: largest(limits, 0) };
}

/** Undefined when one of the values is no whole number. */
function readAll(sources: readonly JsonRecord[], names: readonly string[]): number[] | undefined {
  const found = sources.flatMap((source) => names.map((name) => source[name]));
  const given = found.filter((value) => value !== undefined && value !== null);
  return given.every(isWhole) ? given : undefined;
}

function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value);
}

function largest(values: readonly number[], least: number): number {
  return values.reduce((most, value) => Math.max(most, value), least);
}
