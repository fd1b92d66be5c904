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
  attributes?: Record<string, WireStruct>;
}

export interface HeaderMutation {
  set_headers?: { header: WireHeader; append_action?: string }[];
  remove_headers?: string[];
}

export interface CommonResponse {
  status?: "CONTINUE" | "CONTINUE_AND_REPLACE";
  header_mutation?: HeaderMutation;
  body_mutation?: { body: Uint8Array };
}

/** What a role answers to one message; an empty object is a plain CONTINUE. */
export interface Answer {
  response?: CommonResponse;
  dynamicMetadata?: WireStruct;
}

export type ProcessingResponse = { dynamic_metadata?: WireStruct } & {
  [kind in MessageKind]?: { response?: CommonResponse };
};

/** Wraps an answer for the message it belongs to. */
export function toResponse(kind: MessageKind, answer: Answer): ProcessingResponse {
  const response: ProcessingResponse = { [kind]: answer.response ? { response: answer.response } : {} };
  if (answer.dynamicMetadata) response.dynamic_metadata = answer.dynamicMetadata;
  return response;
}
