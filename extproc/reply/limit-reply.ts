import type { Refusal } from "../limits/limiter.js";
import type { ImmediateAnswer } from "../messages.js";
import { jsonError } from "./json-error.js";

const WORDS = {
  tokens: { what: "tokens per minute", type: "tokens" },
  requests: { what: "requests per minute", type: "requests" },
  concurrency: { what: "requests at once", type: "requests" },
} as const;

/** 429 as OpenAI says it, so that client libraries wait and try again. */
export function limitReply({ reason, limit, retryAfterSeconds, headers }: Refusal): ImmediateAnswer {
  const { what, type } = WORDS[reason];
  const message = `Rate limit reached: ${limit} ${what}. Please try again in ${retryAfterSeconds}s.`;
  const reply = jsonError(
    429,
    { message, type, code: "rate_limit_exceeded" },
    { "retry-after": String(retryAfterSeconds), "x-llm-breaker-reason": "limited", ...headers },
  );
  return { ...reply, details: "llm_breaker_limited" };
}
