// The module for the meter: without the callbacks that it has no use for. Envoy calls whatever a module exports, for every
// event of every stream (docs/decisions/0007).

export {
  proxy_abi_version_0_2_1,
  proxy_on_configure,
  proxy_on_context_create,
  proxy_on_done,
  proxy_on_http_call_response,
  proxy_on_request_body,
  proxy_on_request_headers,
  proxy_on_request_trailers,
  proxy_on_response_body,
  proxy_on_response_headers,
  proxy_on_response_trailers,
  proxy_on_tick,
  proxy_on_vm_start,
  proxy_validate_configuration,
} from "./callbacks";
export { allocate as proxy_on_memory_allocate } from "./host/arena";
