import type { AccessLogEntry } from "../../../extproc/usage/access-log-entry.js";

interface EntryParts {
  readonly reservation?: string;
  /** As the meter writes it. */
  readonly usage?: string;
  readonly status?: number;
  readonly flags?: Record<string, boolean>;
  readonly type?: number;
}

/** An entry as Envoy sends it at a request's end. */
export function accessLogEntry(parts: EntryParts): AccessLogEntry {
  const { reservation = "r", usage, status = 200, flags, type } = parts;
  const facts = { fields: { reservation: { stringValue: reservation } } };
  return {
    common_properties: {
      metadata: { filter_metadata: { "llm.breaker": facts } },
      ...(flags && { response_flags: flags }),
      ...(usage !== undefined && {
        filter_state_objects: { "wasm.llm.breaker.usage": { value: bytesValue(usage) } },
      }),
      ...(type !== undefined && { access_log_type: type }),
    },
    response: { response_code: { value: status } },
  };
}

/** google.protobuf.BytesValue of a text of at most 16,383 bytes. */
export function bytesValue(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  return Buffer.concat([Buffer.from([0x0a, ...length]), bytes]);
}
