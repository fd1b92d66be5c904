import { listCodings } from "../body/coding.js";
import type { HeaderMutation } from "../messages.js";
import type { RequestHeaders } from "../request-headers.js";

export function setHeaders(headers: Readonly<Record<string, string>>): HeaderMutation {
  const set_headers = Object.entries(headers).map(([key, value]) => ({
    header: { key, raw_value: Buffer.from(value) },
    append_action: "OVERWRITE_IF_EXISTS_OR_ADD" as const,
  }));
  return { set_headers };
}

/**
 * `headers` and what a body of another length asks for: Envoy refuses one whose content-length does not fit it, a
 * chunked request stays chunked, and the new body is not compressed.
 */
export function fitHeaders(
  request: RequestHeaders,
  byteLength: number,
  headers: Readonly<Record<string, string>>,
): HeaderMutation {
  const wanted: Record<string, string> = { ...headers };
  if (request.has("content-length")) wanted["content-length"] = String(byteLength);
  const mutation = setHeaders(wanted);
  if (listCodings(request.get("content-encoding")).length > 0) mutation.remove_headers = ["content-encoding"];
  return mutation;
}
