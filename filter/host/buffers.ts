import { OK, proxy_get_buffer_bytes, proxy_set_buffer_bytes } from "./abi";
import { RESULT, RESULT_SIZE } from "./result";

export enum Buffer {
  REQUEST_BODY = 0,
  RESPONSE_BODY = 1,
  CALL_RESPONSE_BODY = 4,
  PLUGIN_CONFIGURATION = 7,
}

/** The most that is copied out of Envoy at once, so that scratch memory has a bound whatever a body's size. */
export const WINDOW: i32 = 1 << 16;

/** Reads `length` bytes from `start` into scratch memory: {@link resultPtr} and {@link resultSize} tell of them. */
export function readBuffer(buffer: Buffer, start: i32, length: i32): bool {
  return proxy_get_buffer_bytes(buffer, start, length, RESULT, RESULT_SIZE) === OK;
}

/** Takes all `size` bytes out of a body's present chunk. */
export function dropBuffer(buffer: Buffer, size: i32): bool {
  return proxy_set_buffer_bytes(buffer, 0, size, 0, 0) === OK;
}
