import type { HttpHeaders } from "./messages.js";

/** Request headers by lower-case name; the values of a repeated header are joined by a comma (RFC 9110, 5.3). */
export type RequestHeaders = ReadonlyMap<string, string>;

/** Envoy fills `raw_value` by default and `value` in its older mode. */
export function readRequestHeaders(message: HttpHeaders | undefined): RequestHeaders {
  const values = new Map<string, string>();
  for (const header of message?.headers?.headers ?? []) {
    const name = (header.key ?? "").toLowerCase();
    const value = header.raw_value?.length
      ? Buffer.from(header.raw_value).toString("utf8")
      : (header.value ?? "");
    const earlier = values.get(name);
    values.set(name, earlier === undefined ? value : `${earlier},${value}`);
  }
  return values;
}

/** The path without its query, which may hold secrets and never decides anything here. */
export function pathOf(headers: RequestHeaders): string {
  return (headers.get(":path") ?? "").split("?", 1)[0] ?? "";
}
