import type { ProcessingRequest } from "./messages.js";

/** Envoy files all request_attributes under the ext_proc filter's own type name, whatever the filter is called. */
const NAMESPACE = "envoy.filters.http.ext_proc";

/** The attributes of one stream that are texts or numbers, as text, by the expression that `request_attributes` named. */
export type Attributes = ReadonlyMap<string, string>;

/** Attributes come with a stream's first message only; a message without any gives an empty map. */
export function readAttributes(message: ProcessingRequest): Attributes {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(message.attributes?.[NAMESPACE]?.fields ?? {})) {
    const scalar = value.stringValue ?? value.numberValue;
    if (scalar !== undefined) values.set(name, String(scalar));
  }
  return values;
}
