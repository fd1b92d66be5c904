import { pathOf, type RequestHeaders } from "../request-headers.js";

/** Headers that may be logged. Everything else (credentials, cookies, prompts in custom headers) never is. */
const LOGGED_HEADERS = [
  ":method",
  "x-request-id",
  "content-type",
  "content-encoding",
  "content-length",
] as const;

/** Log fields that tell which request it was: allowed headers and the path without its query. */
export function describeRequest(headers: RequestHeaders): Record<string, string> {
  const fields: Record<string, string> = { path: pathOf(headers).slice(0, 200) };
  for (const name of LOGGED_HEADERS) {
    const value = headers.get(name);
    if (value !== undefined) fields[name] = value.slice(0, 200);
  }
  return fields;
}
