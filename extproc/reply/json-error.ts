import type { ImmediateAnswer } from "../messages.js";

/** The members of OpenAI's error object that tell callers apart what happened. */
export interface ErrorText {
  message: string;
  /** Such as `invalid_request_error`. */
  type: string;
  /** Such as `rate_limit_exceeded`; also the last part of Envoy's response code details. */
  code: string;
  /** The request's field that is at fault. */
  param?: string;
}

/** Marks our own answers, so that Envoy's local-reply mapper leaves them as they are. */
const DETAILS_PREFIX = "llm_breaker_";

/** An answer in the shape of OpenAI's errors, which client libraries turn into their typed exceptions. */
export function jsonError(
  status: number,
  { message, type, code, param }: ErrorText,
  headers: Readonly<Record<string, string>> = {},
): ImmediateAnswer {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: Buffer.from(JSON.stringify({ error: { message, type, param: param ?? null, code } })),
    details: `${DETAILS_PREFIX}${code}`,
  };
}
