import { join } from "node:path";
import { loadProto } from "../../../extproc/protos.js";
import { findRepoRoot } from "../repo-root.js";

export interface Span {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty at the trace's root. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** 0 unset, 1 ok, 2 error. */
  readonly status: number;
  readonly ms: number;
}

interface AnyValue {
  string_value?: string;
  bool_value?: boolean;
  int_value?: number | string;
  double_value?: number;
}

interface KeyValue {
  key: string;
  value?: AnyValue;
}

interface WireSpan {
  trace_id: Uint8Array;
  span_id: Uint8Array;
  parent_span_id?: Uint8Array;
  name: string;
  kind?: number;
  start_time_unix_nano: number | string;
  end_time_unix_nano: number | string;
  attributes?: KeyValue[];
  status?: { code?: number };
}

interface ExportRequest {
  resource_spans?: { resource?: { attributes?: KeyValue[] }; scope_spans?: { spans?: WireSpan[] }[] }[];
}

const SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService";
const FILE = "test/support/otlp/trace-service.proto";
let decode: ((bytes: Buffer) => object) | undefined;

/** The spans of an OTLP export, from protobuf or from its JSON. */
export function readSpans(body: Buffer, contentType: string): Span[] {
  const isJson = contentType.startsWith("application/json");
  const request = (isJson ? fromJson(JSON.parse(body.toString())) : fromBinary(body)) as ExportRequest;
  return (request.resource_spans ?? []).flatMap(({ resource, scope_spans }) => {
    const service = String(valuesOf(resource?.attributes)["service.name"] ?? "");
    return (scope_spans ?? []).flatMap(({ spans }) => (spans ?? []).map((span) => toSpan(service, span)));
  });
}

function fromBinary(body: Buffer): object {
  decode ??= loadProto(join(findRepoRoot(), FILE), [], SERVICE).Export?.requestDeserialize;
  return decode?.(body) ?? {};
}

/** OTLP's JSON has the same fields in camel case, and ids in hex. */
function fromJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromJson);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    /^(traceId|spanId|parentSpanId)$/.test(key) ? Buffer.from(String(inner), "hex") : fromJson(inner),
  ]);
  return Object.fromEntries(entries);
}

function toSpan(service: string, span: WireSpan): Span {
  return {
    service,
    traceId: hex(span.trace_id),
    spanId: hex(span.span_id),
    parentId: hex(span.parent_span_id),
    name: span.name,
    kind: span.kind ?? 0,
    attributes: valuesOf(span.attributes),
    status: span.status?.code ?? 0,
    ms: (Number(span.end_time_unix_nano) - Number(span.start_time_unix_nano)) / 1e6,
  };
}

function valuesOf(attributes: readonly KeyValue[] = []): Record<string, string | number | boolean> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue(value: AnyValue = {}): string | number | boolean {
  if (value.int_value !== undefined) return Number(value.int_value);
  return value.string_value ?? value.bool_value ?? value.double_value ?? "";
}

function hex(bytes: Uint8Array = new Uint8Array()): string {
  return Buffer.from(bytes).toString("hex");
}
