// Refuses each request on its headers, without asking anything of anybody: the least that a refusal by any wasm filter costs.
import { mark, release } from "../../../filter/host/arena";
import { finishPairs, pairsSize, putText, startPairs } from "../../../filter/host/pairs-writer";
import { Action, sendReply } from "../../../filter/host/stream";
import { Text } from "../../../filter/host/text";

// Envoy loads no module without an allocator.
export { allocate as proxy_on_memory_allocate } from "../../../filter/host/arena";

const STATUS: u32 = 503;
const DETAILS = Text.of("llm_breaker_exhausted");
const CONTENT_TYPE = Text.of("content-type");
const JSON_TYPE = Text.of("application/json");
const REASON = Text.of("x-llm-breaker-reason");
const EXHAUSTED = Text.of("exhausted");
const RETRY_AFTER = Text.of("retry-after");
const SECONDS = Text.of("3600");
const BODY = Text.of(
  '{"error":{"message":"All backends are out of service at the moment. Please try again later.",' +
    '"type":"service_unavailable","param":null,"code":"llm_breaker_exhausted"}}',
);

export function proxy_abi_version_0_2_1(): void {}

export function proxy_on_vm_start(_root: u32, _size: u32): u32 {
  return 1;
}

export function proxy_on_configure(_root: u32, _size: u32): u32 {
  return 1;
}

export function proxy_on_request_headers(_id: u32, _count: u32, _isEnd: u32): Action {
  const top = mark();
  startPairs();
  putText(CONTENT_TYPE, JSON_TYPE);
  putText(REASON, EXHAUSTED);
  putText(RETRY_AFTER, SECONDS);
  const headers = finishPairs();
  sendReply(STATUS, DETAILS, BODY.ptr, BODY.length, headers, pairsSize());
  release(top);
  return Action.PAUSE;
}
