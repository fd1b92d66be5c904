/** The parts of envoy.service.ext_proc.v3 that roles speak in: Envoy's names, an absent field is undefined. */

/** google.protobuf.Value: one of these. */
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

/** The names of HeaderAppendAction; absent is the first. */
export type AppendAction =
  | "APPEND_IF_EXISTS_OR_ADD"
  | "ADD_IF_ABSENT"
  | "OVERWRITE_IF_EXISTS_OR_ADD"
  | "OVERWRITE_IF_EXISTS";

export interface HeaderMutation {
  set_headers?: { header: WireHeader; append_action?: AppendAction }[];
  remove_headers?: string[];
}

export interface CommonResponse {
  status?: "CONTINUE" | "CONTINUE_AND_REPLACE";
  header_mutation?: HeaderMutation;
  body_mutation?: { body?: Uint8Array; clear_body?: true };
}

export type HeaderSendMode = "DEFAULT" | "SEND" | "SKIP";
export type BodySendMode = "NONE" | "STREAMED" | "BUFFERED" | "BUFFERED_PARTIAL";

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
