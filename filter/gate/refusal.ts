// What is told to callers whose request names no chain: the fault is the request's, so trying again will not help.
import { MOST_PER_BYTE, writeJsonText } from "../bytes/json-text";
import { allocate } from "../host/arena";
import { Text } from "../host/text";
import { replyError } from "../reply";

const UNKNOWN = Text.of("unknown_model");
const UNKNOWN_DETAILS = Text.of("llm_breaker_unknown_model");
const UNKNOWN_START = Text.of('{"error":{"message":"The model `');
const UNKNOWN_END = Text.of(
  '` does not exist or is not served here.",' +
    '"type":"invalid_request_error","param":"model","code":"model_not_found"}}',
);
const UNNAMED_BODY = Text.of(
  '{"error":{"message":"The request names no model that could be read, and this route serves none by default.",' +
    '"type":"invalid_request_error","param":"model","code":"model_not_found"}}',
);
const AMBIGUOUS = Text.of("ambiguous_model");
const AMBIGUOUS_DETAILS = Text.of("llm_breaker_ambiguous_model");
const AMBIGUOUS_BODY = Text.of(
  '{"error":{"message":"The request names more than one model: servers differ in which of them they read.",' +
    '"type":"invalid_request_error","param":"model","code":"llm_breaker_ambiguous_model"}}',
);

const BAD_REQUEST: i32 = 400;
const NOT_FOUND: i32 = 404;
/** Of a model's name, what is told back. */
const MAX_MODEL: i32 = 128;

/**
 * No chain serves the model, and none serves what no other does.
 * @param length bytes of the name the caller gave; 0 when none could be read
 */
export function refuseUnknownModel(model: usize, length: i32): void {
  const kept = min(length, MAX_MODEL);
  const room = UNKNOWN_START.length + kept * MOST_PER_BYTE + UNKNOWN_END.length;
  const at = kept > 0 ? allocate(room) : 0;
  if (at === 0) {
    replyError(NOT_FOUND, UNKNOWN, UNKNOWN_DETAILS, UNNAMED_BODY.ptr, UNNAMED_BODY.length, 0);
    return;
  }
  memory.copy(at, UNKNOWN_START.ptr, UNKNOWN_START.length);
  let size = UNKNOWN_START.length;
  size += writeJsonText(at + size, model, kept);
  memory.copy(at + size, UNKNOWN_END.ptr, UNKNOWN_END.length);
  replyError(NOT_FOUND, UNKNOWN, UNKNOWN_DETAILS, at, size + UNKNOWN_END.length, 0);
}

/** The body names two models. */
export function refuseAmbiguousModel(): void {
  replyError(BAD_REQUEST, AMBIGUOUS, AMBIGUOUS_DETAILS, AMBIGUOUS_BODY.ptr, AMBIGUOUS_BODY.length, 0);
}
