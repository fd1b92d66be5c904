import type { ProcessingRequest } from "./messages.js";

/** Envoy files all request_attributes under the ext_proc filter's own type name, whatever the filter is called. */
const NAMESPACE = "envoy.filters.http.ext_proc";

/** The string attributes of one stream, by the expression that `request_attributes` named. */
export type Attributes = ReadonlyMap<string, string>;

/** Attributes come with a stream's first message only; a message without any gives an empty map. */
export function readAttributes(message: ProcessingRequest): Attributes {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(message.attributes?.[NAMESPACE]?.fields ?? {})) {
    if (typeof value.stringValue === "string") values.set(name, value.stringValue);
  }
  return values;
}
