import { isValidation } from "./engine-error";
import { containsWithin, equalsText, isDigit, isSpace, skipIgnoreCase, skipText, startsWith } from "./text";

/** What a request was refused for, as far as its error tells: no fault of the engine. */
export enum ErrorKind {
  UNKNOWN,
  /** The prompt, or prompt and answer, don't fit the model. */
  CONTEXT_LENGTH,
  /** A policy on content refused it. */
  CONTENT_FILTER,
  MODEL_NOT_FOUND,
  /** No money is left; waiting does not help. */
  QUOTA,
}

/** `string_above_max_length`: one string is too long, whatever the model; its text tells nothing of the context. */
export const NOT_CONTEXT: i32 = 0xff;

/**
 * Where engines' phrases begin at the latest when they don't begin the message. Further inside stands
 * what the client wrote.
 */
const PHRASE_WINDOW: usize = 160;

/** The kind that an error's `code` or `type` names, `NOT_CONTEXT`, or UNKNOWN. */
export function kindOfWord(word: usize, length: i32): i32 {
  switch (length) {
    case 13:
      if (equalsText(word, length, "invalid_model")) return ErrorKind.MODEL_NOT_FOUND;
      return equalsText(word, length, "billing_error") ? ErrorKind.QUOTA : ErrorKind.UNKNOWN;
    case 14:
      return equalsText(word, length, "content_filter") ? ErrorKind.CONTENT_FILTER : ErrorKind.UNKNOWN;
    case 15:
      return equalsText(word, length, "model_not_found") ? ErrorKind.MODEL_NOT_FOUND : ErrorKind.UNKNOWN;
    case 18:
      if (equalsText(word, length, "insufficient_quota")) return ErrorKind.QUOTA;
      if (equalsText(word, length, "billing_not_active")) return ErrorKind.QUOTA;
      return equalsText(word, length, "DeploymentNotFound") ? ErrorKind.MODEL_NOT_FOUND : ErrorKind.UNKNOWN;
    case 23:
      if (equalsText(word, length, "context_length_exceeded")) return ErrorKind.CONTEXT_LENGTH;
      return equalsText(word, length, "string_above_max_length") ? NOT_CONTEXT : ErrorKind.UNKNOWN;
    case 24:
      if (equalsText(word, length, "credit_balance_exhausted")) return ErrorKind.QUOTA;
      return equalsText(word, length, "content_policy_violation")
        ? ErrorKind.CONTENT_FILTER
        : ErrorKind.UNKNOWN;
    case 25:
      return equalsText(word, length, "exceed_context_size_error")
        ? ErrorKind.CONTEXT_LENGTH
        : ErrorKind.UNKNOWN;
    case 26:
      return equalsText(word, length, "billing_hard_limit_reached") ? ErrorKind.QUOTA : ErrorKind.UNKNOWN;
    case 28:
      if (equalsText(word, length, "enforced_spend_limit_reached")) return ErrorKind.QUOTA;
      return equalsText(word, length, "ResponsibleAIPolicyViolation")
        ? ErrorKind.CONTENT_FILTER
        : ErrorKind.UNKNOWN;
    default:
      return ErrorKind.UNKNOWN;
  }
}

/** The kind that an error's message tells of, in the words of engines and providers. O(length). */
export function kindOfText(ptr: usize, length: i32): i32 {
  let at = ptr;
  const end = ptr + <usize>max(length, 0);
  while (at < end && isSpace(load<u8>(at))) at++;
  const rest = <i32>(end - at);
  // Both list what the client sent.
  if (isValidation(at, end) || startsWith(at, rest, "[json.exception")) return ErrorKind.UNKNOWN;
  if (isUnknownModel(at, end)) return ErrorKind.MODEL_NOT_FOUND;
  if (isQuota(at, rest)) return ErrorKind.QUOTA;
  if (isRefusedContent(at, end)) return ErrorKind.CONTENT_FILTER;
  return isContextExceeded(at, end) ? ErrorKind.CONTEXT_LENGTH : ErrorKind.UNKNOWN;
}

function isQuota(at: usize, length: i32): bool {
  return (
    startsWith(at, length, "Insufficient Balance") || startsWith(at, length, "Your credit balance is too low")
  );
}

/** vLLM, LMDeploy, OpenAI; Ollama; Azure; Gemini; DeepSeek; OpenRouter. */
function isUnknownModel(at: usize, end: usize): bool {
  const length = <i32>(end - at);
  return (
    isQuoted(at, end, "The model ", " does not exist") ||
    isQuoted(at, end, "model ", " not found") ||
    startsWith(at, length, "The API deployment for this resource does not exist") ||
    (startsWith(at, length, "models/") && containsWithin(at, end, " is not found for API version", end)) ||
    startsWith(at, length, "Model Not Exist") ||
    startsWith(at, length, "No endpoints found for ")
  );
}

/** A name in quotes of any sort, between two texts. */
function isQuoted(start: usize, end: usize, before: string, after: string): bool {
  const at = skipText(start, end, before);
  if (at === start || at === end) return false;
  const quote = load<u8>(at);
  if (quote !== 0x60 && quote !== 0x27 && quote !== 0x22) return false;
  for (let close = at + 1; close < end; close++) {
    if (load<u8>(close) === quote && startsWith(close + 1, <i32>(end - close - 1), after)) return true;
  }
  return false;
}

function isRefusedContent(at: usize, end: usize): bool {
  const length = <i32>(end - at);
  return (
    startsWith(at, length, "The response was filtered due to the prompt triggering") ||
    startsWith(at, length, "Content Exists Risk") ||
    isNear(at, end, "request was rejected as a result of our safety system") ||
    isNear(at, end, "request was rejected as a result of the safety system") ||
    isNear(at, end, "violating our usage policy") ||
    isNear(at, end, "your input was flagged for ")
  );
}

function isContextExceeded(at: usize, end: usize): bool {
  const length = <i32>(end - at);
  if (isNear(at, end, "string_above_max_length")) return false;
  const input = skipText(at, end, "Input validation error: ");
  const inputLength = <i32>(end - input);
  return (
    startsWith(at, length, "prompt is too long") ||
    startsWith(at, length, "'max_tokens' or 'max_completion_tokens' is too large") ||
    startsWith(at, length, "Requested token count exceeds the model's maximum context length") ||
    startsWith(at, length, "This endpoint's maximum context length is") ||
    startsWith(at, length, "The request exceeds the model context length") ||
    startsWith(at, length, "the input length exceeds the context length") ||
    startsWith(input, inputLength, "`inputs` tokens + `max_new_tokens` must be") ||
    startsWith(input, inputLength, "`inputs` must have less than ") ||
    isNear(at, end, "this model's maximum context length is") ||
    isNear(at, end, "exceed context limit") ||
    isNear(at, end, "model's maximum context limit") ||
    isNear(at, end, "is longer than the model's context length") ||
    isNear(at, end, "input tokens exceed the configured limit") ||
    isNear(at, end, "exceeds the available context size") ||
    isNear(at, end, "exceeds the maximum number of tokens allowed") ||
    isNumberNear(at, end, "maximum input length is ", " tokens") ||
    isNumberNear(at, end, "current length is ", " while limit is")
  );
}

/** The phrase begins near the start. */
function isNear(at: usize, end: usize, phrase: string): bool {
  return containsWithin(at, end, phrase, at + PHRASE_WINDOW);
}

/** Near the start stands a number between two texts. */
function isNumberNear(start: usize, end: usize, before: string, after: string): bool {
  const last = min(start + PHRASE_WINDOW, end);
  for (let from = start; from < last; from++) {
    const digits = skipIgnoreCase(from, end, before);
    if (digits === from) continue;
    let at = digits;
    while (at < end && isDigit(load<u8>(at))) at++;
    if (at > digits && skipIgnoreCase(at, end, after) > at) return true;
  }
  return false;
}
