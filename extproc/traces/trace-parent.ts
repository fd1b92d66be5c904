/** The span that a request comes from, as W3C's header `traceparent` tells it. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Version 00. What a later version may append is not read. */
const TRACE_PARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
const MAX_LENGTH = 128;
const SAMPLED = 1;

/** Undefined for what is no such header. */
export function readTraceParent(text: string | undefined): TraceParent | undefined {
  if (text === undefined || text.length > MAX_LENGTH) return undefined;
  const [, traceId, spanId, flags] = TRACE_PARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}
