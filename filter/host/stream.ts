import {
  proxy_close_stream,
  proxy_continue_stream,
  proxy_send_local_response,
  proxy_set_effective_context,
  proxy_set_tick_period_milliseconds,
} from "./abi";
import { Text } from "./text";

/** What a callback tells Envoy. CONTINUE is also "go on" for bodies; PAUSE buffers a body. */
export enum Action {
  CONTINUE = 0,
  PAUSE = 1,
}

const RESPONSE: u32 = 1;
const NO_GRPC_STATUS: i32 = -1;

export function sendReply(
  status: u32,
  details: Text,
  body: usize,
  bodySize: i32,
  headers: usize,
  headersSize: i32,
): void {
  proxy_send_local_response(
    status,
    details.ptr,
    details.length,
    body,
    bodySize,
    headers,
    headersSize,
    NO_GRPC_STATUS,
  );
}

/** Makes later host calls act on another context than the one that was called (from a tick, on a held stream). */
export function actAs(context: u32): void {
  proxy_set_effective_context(context);
}

export function continueResponse(): void {
  proxy_continue_stream(RESPONSE);
}

export function closeResponse(): void {
  proxy_close_stream(RESPONSE);
}

export function tickEvery(periodMs: u32): void {
  proxy_set_tick_period_milliseconds(periodMs);
}
