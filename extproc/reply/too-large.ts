import type { ImmediateAnswer } from "../messages.js";
import { jsonError } from "./json-error.js";

/** 413 for a body that is longer than `maxBytes`, as sent or once its codings are undone. */
export function bodyTooLarge(maxBytes: number): ImmediateAnswer {
  return jsonError(413, {
    message: `The request body is too large: at most ${maxBytes} bytes are taken, after decompression.`,
    type: "invalid_request_error",
    code: "request_body_too_large",
  });
}
