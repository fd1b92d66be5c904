import { OK, proxy_http_call } from "./abi";
import { RESULT } from "./result";
import { Text } from "./text";

const NO_TRAILERS: usize = heap.alloc(4);
store<u32>(NO_TRAILERS, 0);

/** Sends a request through a cluster. Its token, or 0 when Envoy did not take it (no host, no such cluster). */
export function httpCall(
  cluster: Text,
  headers: usize,
  headersSize: i32,
  body: usize,
  bodySize: i32,
  timeoutMs: u32,
): u32 {
  const status = proxy_http_call(
    cluster.ptr,
    cluster.length,
    headers,
    headersSize,
    body,
    bodySize,
    NO_TRAILERS,
    4,
    timeoutMs,
    RESULT,
  );
  return status === OK ? load<u32>(RESULT) : 0;
}
