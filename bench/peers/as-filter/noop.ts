// The callbacks of gate and meter, and nothing in them: what any pair of wasm filters costs, whatever it does.
import { Action } from "../../../filter/host/stream";

// Envoy loads no module without an allocator.
export { allocate as proxy_on_memory_allocate } from "../../../filter/host/arena";

export function proxy_abi_version_0_2_1(): void {}

export function proxy_on_vm_start(_root: u32, _size: u32): u32 {
  return 1;
}

export function proxy_on_configure(_root: u32, _size: u32): u32 {
  return 1;
}

export function proxy_on_context_create(_id: u32, _parent: u32): void {}

export function proxy_on_request_headers(_id: u32, _count: u32, _isEnd: u32): Action {
  return Action.CONTINUE;
}

export function proxy_on_request_body(_id: u32, _size: u32, _isEnd: u32): Action {
  return Action.CONTINUE;
}

export function proxy_on_response_headers(_id: u32, _count: u32, _isEnd: u32): Action {
  return Action.CONTINUE;
}

export function proxy_on_response_body(_id: u32, _size: u32, _isEnd: u32): Action {
  return Action.CONTINUE;
}

export function proxy_on_done(_id: u32): u32 {
  return 1;
}
