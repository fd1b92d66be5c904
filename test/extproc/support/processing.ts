import type {
  CommonResponse,
  HeaderMutation,
  MessageKind,
  ProcessingMode,
  WireHeader,
  WireStruct,
} from "../../../extproc/messages.js";

/**
 * ext_proc's messages as proto-loader shapes them (keepCase, no defaults: an absent field is undefined). The tests
 * speak through it, so that what the service reads and writes by hand is held against Envoy's own definitions.
 */
export interface HttpHeaders {
  headers?: { headers?: WireHeader[] };
  end_of_stream?: boolean;
}

export interface HttpBody {
  body?: Uint8Array;
  end_of_stream?: boolean;
}

export interface ProcessingRequest {
  request?: MessageKind;
  request_headers?: HttpHeaders;
  request_body?: HttpBody;
  request_trailers?: object;
  response_headers?: HttpHeaders;
  response_body?: HttpBody;
  response_trailers?: object;
  attributes?: Record<string, WireStruct>;
  observability_mode?: boolean;
}

export type ProcessingResponse = {
  /** Which part was sent. */
  response?: MessageKind | "immediate_response";
  immediate_response?: {
    /** The name that Envoy's definitions give it, or its number. */
    status: { code: string | number };
    headers: HeaderMutation;
    body: Uint8Array;
    details: string;
  };
  dynamic_metadata?: WireStruct;
  mode_override?: ProcessingMode;
} & {
  [kind in MessageKind]?: { response?: CommonResponse; header_mutation?: HeaderMutation };
};
