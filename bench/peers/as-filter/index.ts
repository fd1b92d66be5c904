// The record's work alone, of our own host layer and breaker: what bench/peers/rust-filter does, call for call.

export { allocate as proxy_on_memory_allocate } from "../../../filter/host/arena";
export {
  proxy_abi_version_0_2_1,
  proxy_on_configure,
  proxy_on_context_create,
  proxy_on_done,
  proxy_on_request_headers,
  proxy_on_response_headers,
  proxy_on_vm_start,
} from "./callbacks";
