import { Permission, permission } from "../../../filter/breaker/breaker";
import { mark, release } from "../../../filter/host/arena";
import { nowMs } from "../../../filter/host/clock";
import { findSlot, insertSlot, removeSlot, Slot, SlotPool } from "../../../filter/host/contexts";
import { HeaderMap, readHeader } from "../../../filter/host/headers";
import { resultPtr } from "../../../filter/host/result";
import { Action, sendReply } from "../../../filter/host/stream";
import { Text } from "../../../filter/host/text";
import { config, createRecord, fileOutcome, readRecord } from "./record";

const STATUS = Text.of(":status");
const REFUSAL = Text.of("the backend is out of service");
const REFUSED: u32 = 503;
const DIGIT_2: u8 = 0x32;

@unmanaged
class Call extends Slot {
  /** 0 = it was not admitted. */
  generation: u32;
  isSuccess: bool;
}

const calls = new SlotPool(<i32>offsetof<Call>());

export function proxy_abi_version_0_2_1(): void {}

export function proxy_on_vm_start(_root: u32, _size: u32): u32 {
  return 1;
}

export function proxy_on_configure(_root: u32, _size: u32): u32 {
  const top = mark();
  createRecord();
  release(top);
  return 1;
}

export function proxy_on_context_create(id: u32, parent: u32): void {
  if (parent === 0) return;
  const slot = changetype<Slot>(calls.take());
  slot.id = id;
  insertSlot(slot);
}

export function proxy_on_request_headers(id: u32, _count: u32, _isEnd: u32): Action {
  const at = findSlot(id);
  if (at === 0) return Action.CONTINUE;
  const top = mark();
  const action = admit(changetype<Call>(at));
  release(top);
  return action;
}

function admit(call: Call): Action {
  const record = readRecord();
  if (!record) return Action.CONTINUE;
  if (permission(record, config, nowMs()) !== Permission.PERMITTED) {
    sendReply(REFUSED, REFUSAL, REFUSAL.ptr, REFUSAL.length, 0, 0);
    return Action.PAUSE;
  }
  call.generation = record.generation;
  return Action.CONTINUE;
}

export function proxy_on_response_headers(id: u32, _count: u32, _isEnd: u32): Action {
  const at = findSlot(id);
  if (at === 0) return Action.CONTINUE;
  const top = mark();
  changetype<Call>(at).isSuccess =
    readHeader(HeaderMap.RESPONSE, STATUS) && load<u8>(resultPtr()) === DIGIT_2;
  release(top);
  return Action.CONTINUE;
}

export function proxy_on_done(id: u32): u32 {
  const at = removeSlot(id);
  if (at === 0) return 1;
  const top = mark();
  const call = changetype<Call>(at);
  if (call.generation !== 0) fileOutcome(call.generation, call.isSuccess);
  calls.give(at);
  release(top);
  return 1;
}
