/**
 * The parts of envoy.service.ext_proc.v3 that we read and write, as proto-loader shapes them
 * (keepCase, no defaults: an absent field is undefined).
 */

/** google.protobuf.Value. proto-loader keeps camel case inside its built-in well-known types. */
export interface WireValue {
  stringValue?: string;
  numberValue?: number;
  boolValue?: boolean;
  nullValue?: 0;
  structValue?: WireStruct;
  listValue?: { values: WireValue[] };
}

export interface WireStruct {
  fields?: Record<string, WireValue>;
}

export interface WireHeader {
  key?: string;
  value?: string;
  raw_value?: Uint8Array;
}

export interface HttpHeaders {
  headers?: { headers?: WireHeader[] };
  end_of_stream?: boolean;
}

export interface HttpBody {
  body?: Uint8Array;
  end_of_stream?: boolean;
}

/** The members of the oneof `request`; the response to each goes into the field of the same name. */
export const MESSAGE_KINDS = [
  "request_headers",
  "request_body",
  "request_trailers",
  "response_headers",
  "response_body",
  "response_trailers",
] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

export interface ProcessingRequest {
  request?: MessageKind;
  request_headers?: HttpHeaders;
  request_body?: HttpBody;
  response_headers?: HttpHeaders;
  response_body?: HttpBody;
  attributes?: Record<string, WireStruct>;
  /** Envoy goes on without waiting, and reads no answers. */
  observability_mode?: boolean;
}

export interface HeaderMutation {
  set_headers?: { header: WireHeader; append_action?: string }[];
  remove_headers?: string[];
}

export interface CommonResponse {
  status?: "CONTINUE" | "CONTINUE_AND_REPLACE";
  header_mutation?: HeaderMutation;
  body_mutation?: { body?: Uint8Array; clear_body?: true };
}

type HeaderSendMode = "DEFAULT" | "SEND" | "SKIP";
type BodySendMode = "NONE" | "STREAMED" | "BUFFERED" | "BUFFERED_PARTIAL";

export interface ProcessingMode {
  request_header_mode?: HeaderSendMode;
  response_header_mode?: HeaderSendMode;
  request_body_mode?: BodySendMode;
  response_body_mode?: BodySendMode;
  request_trailer_mode?: HeaderSendMode;
  response_trailer_mode?: HeaderSendMode;
}

/** An answer to the caller in the backend's place; nothing of the request goes further. */
export interface ImmediateAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Begins with "llm_breaker_", so that Envoy's local-reply mapper leaves it as it is. */
  readonly details: string;
}

/** What a job answers to one message; an empty object is a plain CONTINUE. */
export interface Answer {
  /** To trailers, Envoy takes the header mutation only. */
  response?: CommonResponse;
  dynamicMetadata?: WireStruct;
  /** Ends the stream; everything else but `dynamicMetadata` is left out beside it. */
  immediate?: ImmediateAnswer;
  /** Envoy takes it in answers to headers only, and only where `allow_mode_override` is set. */
  modeOverride?: ProcessingMode;
  /**
   * The job wants the messages of the response too; else the stream ends with the answer to the request's body, or
   * to its headers when they are all. Holds for later answers too, until one says false.
   */
  more?: boolean;
}

export type ProcessingResponse = {
  immediate_response?: {
    status: { code: number };
    headers: HeaderMutation;
    body: Uint8Array;
    details: string;
  };
  dynamic_metadata?: WireStruct;
  mode_override?: ProcessingMode;
} & {
  [kind in MessageKind]?: { response?: CommonResponse; header_mutation?: HeaderMutation };
};

/** Wraps an answer for the message it belongs to. */
export function toResponse(kind: MessageKind, answer: Answer): ProcessingResponse {
  const response: ProcessingResponse = answer.immediate
    ? { immediate_response: toImmediate(answer.immediate) }
    : { [kind]: toPart(kind, answer.response) };
  if (answer.dynamicMetadata) response.dynamic_metadata = answer.dynamicMetadata;
  if (answer.modeOverride && !answer.immediate) response.mode_override = answer.modeOverride;
  return response;
}

function toPart(kind: MessageKind, response: CommonResponse | undefined) {
  if (response === undefined) return {};
  if (kind !== "request_trailers" && kind !== "response_trailers") return { response };
  return response.header_mutation ? { header_mutation: response.header_mutation } : {};
}

function toImmediate({ status, headers, body, details }: ImmediateAnswer) {
  const set_headers = Object.entries(headers).map(([key, value]) => ({
    header: { key, raw_value: Buffer.from(value) },
    append_action: "OVERWRITE_IF_EXISTS_OR_ADD",
  }));
  return { status: { code: status }, headers: { set_headers }, body, details };
}
