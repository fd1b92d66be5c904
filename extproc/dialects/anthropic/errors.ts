import { isRecord, type JsonRecord, parseObject } from "../../body/json.js";

interface ErrorNames {
  readonly type: string;
  readonly code: string | null;
}

/** Anthropic's error types (documented under "Errors" of its API) in the words that OpenAI's clients know. */
const NAMES: ReadonlyMap<string, ErrorNames> = new Map([
  ["invalid_request_error", { type: "invalid_request_error", code: null }],
  ["authentication_error", { type: "invalid_request_error", code: "invalid_api_key" }],
  ["billing_error", { type: "insufficient_quota", code: "insufficient_quota" }],
  ["permission_error", { type: "invalid_request_error", code: "permission_denied" }],
  ["not_found_error", { type: "invalid_request_error", code: "not_found" }],
  ["request_too_large", { type: "invalid_request_error", code: "request_too_large" }],
  ["rate_limit_error", { type: "rate_limit_error", code: "rate_limit_exceeded" }],
  ["timeout_error", { type: "server_error", code: "timeout" }],
  ["api_error", { type: "server_error", code: "server_error" }],
  ["overloaded_error", { type: "server_error", code: "overloaded" }],
]);
const UNKNOWN: ErrorNames = { type: "server_error", code: null };

const TOO_LONG = /^(?:prompt is too long|input length and `max_tokens` exceed context limit)/;

/** The `error` of an answer or of a stream's event, as OpenAI's API says it. The backend's own message is kept. */
export function toOpenAiError(error: unknown): JsonRecord {
  const { type, message } = isRecord(error) ? error : {};
  const name = typeof type === "string" ? type : "";
  const text = typeof message === "string" ? message : "The backend's error can't be read.";
  const names = NAMES.get(name) ?? UNKNOWN;
  return { message: text, type: names.type, param: null, code: codeOf(names, name, text) };
}

/** What a request was refused for decides whether another tier is asked, so two causes have their own code. */
function codeOf(names: ErrorNames, type: string, message: string): string | null {
  if (TOO_LONG.test(message)) return "context_length_exceeded";
  if (type === "not_found_error" && message.startsWith("model:")) return "model_not_found";
  return names.code;
}

/** The body of an answer with an error status; the status stays the backend's. */
export function toErrorBody(status: number, body: Buffer | undefined): Buffer {
  const error = body && parseObject(body)?.error;
  const known = isRecord(error) ? error : { message: `The backend answered with status ${status}.` };
  return Buffer.from(JSON.stringify({ error: toOpenAiError(known) }));
}

/** For an answer that is none of the dialect's: an error within a 200, which is failed over while nothing is sent. */
export function unreadable(why: string): JsonRecord {
  return { message: why, type: "server_error", param: null, code: "llm_breaker_unreadable_answer" };
}
