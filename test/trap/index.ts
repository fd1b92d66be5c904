// The whole filter with one thing more: a request can tell it to trap. For tests of what a trap costs; built below build/debug,
// and no part of what ships.
import { proxy_on_request_headers as onRequestHeaders } from "../../filter/callbacks";
import { mark, release } from "../../filter/host/arena";
import { random32 } from "../../filter/host/clock";
import { HeaderMap, readHeader } from "../../filter/host/headers";
import { readProperty, writeFilterState } from "../../filter/host/properties";
import { resultPtr, resultSize } from "../../filter/host/result";
import { Action } from "../../filter/host/stream";
import { decimal, decimalLength, Text } from "../../filter/host/text";
import { PROPERTY_ROOT_ID } from "../../filter/names";

export {
  proxy_abi_version_0_2_1,
  proxy_on_configure,
  proxy_on_context_create,
  proxy_on_done,
  proxy_on_http_call_response,
  proxy_on_request_body,
  proxy_on_request_trailers,
  proxy_on_response_body,
  proxy_on_response_headers,
  proxy_on_response_trailers,
  proxy_on_tick,
  proxy_on_vm_start,
  proxy_validate_configuration,
} from "../../filter/callbacks";
export { allocate as proxy_on_memory_allocate } from "../../filter/host/arena";

/** Names the position that is to trap. */
const TRAP = Text.of("x-debug-trap");
/** Filter state by which an access log tells whose VM a request met: it changes with each new VM. */
const VM = Text.of("debug.vm");
const GATE = Text.of("gate");

let vm: u32 = 0;

export function proxy_on_request_headers(id: u32, count: u32, isEnd: u32): Action {
  const top = mark();
  if (readProperty(PROPERTY_ROOT_ID)) {
    const position = resultPtr();
    const length = resultSize();
    if (GATE.equals(position, length)) tellVm();
    if (readHeader(HeaderMap.REQUEST, TRAP) && resultSize() === length) {
      if (memory.compare(resultPtr(), position, length) === 0) unreachable();
    }
  }
  release(top);
  return onRequestHeaders(id, count, isEnd);
}

function tellVm(): void {
  if (vm === 0) vm = random32() | 1;
  const text = decimal(vm);
  if (text !== 0) writeFilterState(VM, text, decimalLength());
}
