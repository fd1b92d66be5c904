import type { JsonRecord } from "./json.js";

/**
 * How much output a request asks for. `answers` is n × prompts. `odd`: a value that servers would refuse or read
 * in their own way, so nothing may be concluded from it.
 */
export type OutputAsk =
  | { kind: "limited"; answers: number; tokensEach: number }
  | { kind: "unlimited"; answers: number }
  | { kind: "odd" };

/** Reads `n`, `best_of`, `max_completion_tokens` and `max_tokens` (the newer name wins, as in the OpenAI API). */
export function readOutputAsk(body: JsonRecord, prompts: number): OutputAsk {
  const n = readWhole(body.n, 1);
  const bestOf = readWhole(body.best_of, 1);
  if (n === undefined || bestOf === undefined || n < 1 || bestOf < 1) return { kind: "odd" };
  const answers = Math.max(n, bestOf) * prompts;
  // -1 is llama.cpp's "no limit".
  const tokensEach = readWhole(body.max_completion_tokens ?? body.max_tokens, -1);
  if (tokensEach === undefined) return { kind: "odd" };
  return tokensEach < 0 ? { kind: "unlimited", answers } : { kind: "limited", answers, tokensEach };
}

function readWhole(value: unknown, absent: number): number | undefined {
  if (value === undefined || value === null) return absent;
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}
