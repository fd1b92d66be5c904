import { z } from "zod";
import type { WireStruct } from "../messages.js";

/** Parts of envoy.data.accesslog.v3.HTTPAccessLogEntry, as proto-loader shapes them. */
export interface AccessLogEntry {
  common_properties?: {
    response_flags?: { downstream_connection_termination?: boolean; downstream_remote_reset?: boolean };
    metadata?: { filter_metadata?: Record<string, WireStruct> };
    filter_state_objects?: Record<string, { value?: Uint8Array }>;
    access_log_type?: number;
  };
  response?: { response_code?: { value?: number } };
}

/** How one limited request ended. */
export interface RequestEnd {
  /** As `admit` gave it. */
  readonly reservation: string;
  /** Prompt and completion, when the answer told both. */
  readonly usage: number | undefined;
  /** What the caller was sent; 0 when he left before. */
  readonly status: number;
  readonly callerLeft: boolean;
}

const NAMESPACE = "llm.breaker";
/** The meter writes it when an answer tells its usage. */
const USAGE_STATE = "wasm.llm.breaker.usage";
/** Bytes; the meter's have about 60. */
const MAX_USAGE_BYTES = 512;
/** AccessLogType: none given (older Envoys), DownstreamEnd. */
const FINAL_TYPES = new Set([0, 6]);

const tokens = z.int().min(0).max(1e9);
const usageSchema = z.object({ prompt: tokens, completion: tokens });

/** Undefined for entries of requests that have no reservation or are not over. */
export function readRequestEnd({ common_properties, response }: AccessLogEntry): RequestEnd | undefined {
  if (!FINAL_TYPES.has(common_properties?.access_log_type ?? 0)) return undefined;
  const facts = common_properties?.metadata?.filter_metadata?.[NAMESPACE]?.fields;
  const reservation = facts?.reservation?.stringValue;
  if (!reservation) return undefined;
  const flags = common_properties?.response_flags;
  return {
    reservation,
    usage: readUsage(common_properties?.filter_state_objects?.[USAGE_STATE]?.value),
    status: response?.response_code?.value ?? 0,
    callerLeft: flags?.downstream_connection_termination === true || flags?.downstream_remote_reset === true,
  };
}

function readUsage(bytesValue: Uint8Array | undefined): number | undefined {
  if (bytesValue === undefined || bytesValue.length > MAX_USAGE_BYTES) return undefined;
  try {
    const usage = usageSchema.parse(JSON.parse(textOf(bytesValue)));
    return usage.prompt + usage.completion;
  } catch {
    return undefined;
  }
}

/** google.protobuf.BytesValue: field 1 (tag 0x0a), the length as a varint, the bytes. That is how Envoy wraps filter state. */
function textOf(bytes: Uint8Array): string {
  let at = 1;
  while (at < bytes.length && (bytes[at] ?? 0) >= 0x80) at++;
  return bytes[0] === 0x0a ? Buffer.from(bytes.subarray(at + 1)).toString() : "";
}
