import type { Attributes } from "../attributes.js";
import type { MessageKind } from "../messages.js";
import { HeaderCollector, type RequestHeaders } from "../request-headers.js";
import { Reader } from "./reader.js";

/** One envoy.service.ext_proc.v3.ProcessingRequest, as far as we read it. */
export interface Message {
  readonly kind: MessageKind;
  /** Of headers. */
  readonly headers: RequestHeaders;
  /** Of a body. */
  readonly body: Buffer;
  /** Nothing of this side, request or response, comes after it. */
  readonly isEnd: boolean;
  /** Come with a stream's first message only. */
  readonly attributes: Attributes;
  /** Envoy goes on without waiting, and reads no answer. */
  readonly isObserved: boolean;
}

const KINDS: Readonly<Record<number, MessageKind>> = {
  2: "request_headers",
  3: "response_headers",
  4: "request_body",
  5: "response_body",
  6: "request_trailers",
  7: "response_trailers",
};

/** Envoy files all request_attributes under the ext_proc filter's own type name, whatever the filter is called. */
const ATTRIBUTES_NAMESPACE = "envoy.filters.http.ext_proc";

const NO_HEADERS: RequestHeaders = new Map();
const NO_ATTRIBUTES: Attributes = new Map();
const NO_BYTES = Buffer.alloc(0);

/**
 * Undefined for a message of a kind that we don't know. Bodies are views of `bytes`.
 * @throws WireError for bytes that are no such message.
 */
export function readProcessingRequest(bytes: Buffer): Message | undefined {
  const reader = new Reader(bytes);
  let kind: MessageKind | undefined;
  let part: Part = EMPTY;
  let attributes: Attributes = NO_ATTRIBUTES;
  let isObserved = false;
  while (reader.next()) {
    const known = KINDS[reader.field];
    if (known !== undefined) {
      kind = known;
      part = readPart(known, reader.message());
    } else if (reader.field === 9) {
      attributes = readAttributes(reader.message()) ?? attributes;
    } else if (reader.field === 10) {
      isObserved = reader.flag();
    } else {
      reader.skip();
    }
  }
  return kind && { kind, ...part, attributes, isObserved };
}

type Part = Pick<Message, "headers" | "body" | "isEnd">;

const EMPTY: Part = { headers: NO_HEADERS, body: NO_BYTES, isEnd: false };

function readPart(kind: MessageKind, reader: Reader): Part {
  if (kind === "request_body" || kind === "response_body") return readBody(reader);
  if (kind === "request_headers" || kind === "response_headers") return readHeaders(reader);
  return { ...EMPTY, isEnd: true };
}

function readHeaders(reader: Reader): Part {
  const headers = new HeaderCollector();
  let isEnd = false;
  while (reader.next()) {
    if (reader.field === 1) readHeaderMap(reader.message(), headers);
    else if (reader.field === 3) isEnd = reader.flag();
    else reader.skip();
  }
  return { headers: headers.values, body: NO_BYTES, isEnd };
}

function readHeaderMap(reader: Reader, into: HeaderCollector): void {
  while (reader.next()) {
    if (reader.field === 1) readHeader(reader.message(), into);
    else reader.skip();
  }
}

/** Envoy fills `raw_value` by default and `value` in its older mode. */
function readHeader(reader: Reader, into: HeaderCollector): void {
  let name = "";
  let value = "";
  let rawValue = "";
  while (reader.next()) {
    if (reader.field === 1) name = reader.ascii();
    else if (reader.field === 2) value = reader.text();
    else if (reader.field === 3) rawValue = reader.text();
    else reader.skip();
  }
  into.add(name, rawValue || value);
}

function readBody(reader: Reader): Part {
  let body: Buffer = NO_BYTES;
  let isEnd = false;
  while (reader.next()) {
    if (reader.field === 1) body = reader.view();
    else if (reader.field === 2) isEnd = reader.flag();
    else reader.skip();
  }
  return { headers: NO_HEADERS, body, isEnd };
}

/** One entry of map<string, Struct>; undefined for another namespace's. */
function readAttributes(entry: Reader): Attributes | undefined {
  let name = "";
  let values: Map<string, string> | undefined;
  while (entry.next()) {
    if (entry.field === 1) name = entry.text();
    else if (entry.field === 2) values = readStruct(entry.message());
    else entry.skip();
  }
  return name === ATTRIBUTES_NAMESPACE ? values : undefined;
}

function readStruct(reader: Reader): Map<string, string> {
  const values = new Map<string, string>();
  while (reader.next()) {
    if (reader.field === 1) readField(reader.message(), values);
    else reader.skip();
  }
  return values;
}

function readField(entry: Reader, into: Map<string, string>): void {
  let name = "";
  let value: string | undefined;
  while (entry.next()) {
    if (entry.field === 1) name = entry.text();
    else if (entry.field === 2) value = readScalar(entry.message());
    else entry.skip();
  }
  if (value !== undefined) into.set(name, value);
}

/** Text or number, as text; undefined for everything else that a google.protobuf.Value may be. */
function readScalar(reader: Reader): string | undefined {
  let value: string | undefined;
  while (reader.next()) {
    if (reader.field === 2) value = String(reader.double());
    else if (reader.field === 3) value = reader.text();
    else reader.skip();
  }
  return value;
}
