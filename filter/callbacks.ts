// The callbacks of the proxy-wasm ABI, each handed to the position whose context it is. Scratch memory is marked on entry and
// released on exit, so that callbacks which run inside others keep their bytes apart.
import * as admit from "./admit";
import { admitSlots } from "./admit";
import * as gate from "./gate";
import { clearDesk, GateSlot, gateSlots } from "./gate/slot";
import * as guard from "./guard";
import { GuardSlot, guardSlots } from "./guard";
import { mark, release } from "./host/arena";
import { findSlot, insertSlot, removeSlot, Slot } from "./host/contexts";
import { collectGarbage } from "./host/log";
import { Action } from "./host/stream";
import * as meter from "./meter";
import { ClusterRules } from "./meter/cluster";
import { MeterSlot, meterSlots } from "./meter/slot";
import { Policy } from "./policy/policy";
import { onProbeAnswer } from "./probe";
import { configure, createRoot, deleteRoot, findRoot, Position, Root, tick } from "./roots";
import { onSyncAnswer } from "./sync/sync";

export function proxy_abi_version_0_2_1(): void {}

export function proxy_on_vm_start(_root: u32, _size: u32): u32 {
  return 1;
}

export function proxy_validate_configuration(_root: u32, _size: u32): u32 {
  return 1;
}

export function proxy_on_configure(id: u32, size: u32): u32 {
  const top = mark();
  const root = findRoot(id);
  const isGood = root ? configure(root, size) : false;
  release(top);
  return isGood ? 1 : 0;
}

export function proxy_on_tick(id: u32): void {
  collectGarbage();
  const top = mark();
  const root = findRoot(id);
  if (root) tick(root);
  release(top);
}

export function proxy_on_context_create(id: u32, parent: u32): void {
  if (parent === 0) {
    createRoot(id);
    return;
  }
  const root = findRoot(parent);
  if (!root) return;
  const position = root.position;
  let at: usize = 0;
  if (position === Position.METER) at = meterSlots.take();
  else if (position === Position.GATE) at = gateSlots.take();
  else if (position === Position.ADMIT) at = admitSlots.take();
  else if (position === Position.GUARD) at = guardSlots.take();
  if (at === 0) return;
  const slot = changetype<Slot>(at);
  slot.id = id;
  slot.root = parent;
  slot.kind = position;
  insertSlot(slot);
}

export function proxy_on_request_headers(id: u32, _count: u32, isEnd: u32): Action {
  const top = mark();
  let action = Action.CONTINUE;
  const at = findSlot(id);
  if (at !== 0) {
    const kind = changetype<Slot>(at).kind;
    const root = findRoot(changetype<Slot>(at).root);
    if (kind === Position.METER)
      action = meter.onRequestHeaders(changetype<MeterSlot>(at), clusterOf(root), isEnd !== 0);
    else if (kind === Position.ADMIT) action = admit.onRequestHeaders();
    else if (kind === Position.GUARD) action = guard.onRequestHeaders(changetype<GuardSlot>(at), isEnd !== 0);
    else {
      const policy = root ? root.policy : null;
      if (policy) action = gate.onRequestHeaders(changetype<GateSlot>(at), policy, isEnd !== 0);
    }
  }
  release(top);
  return action;
}

export function proxy_on_request_body(id: u32, size: u32, isEnd: u32): Action {
  const top = mark();
  let action = Action.CONTINUE;
  const at = findSlot(id);
  const kind = at !== 0 ? changetype<Slot>(at).kind : <u32>Position.UNKNOWN;
  if (kind === Position.GATE) {
    const policy = policyOf(at);
    if (policy) action = gate.onRequestBody(changetype<GateSlot>(at), policy, size, isEnd !== 0);
  } else if (kind === Position.GUARD) action = guard.onRequestBody(changetype<GuardSlot>(at), size);
  else if (kind === Position.METER && isEnd !== 0) meter.onRequestEnd(changetype<MeterSlot>(at));
  release(top);
  return action;
}

export function proxy_on_request_trailers(id: u32, _count: u32): Action {
  const top = mark();
  let action = Action.CONTINUE;
  const at = findSlot(id);
  const kind = at !== 0 ? changetype<Slot>(at).kind : <u32>Position.UNKNOWN;
  if (kind === Position.GATE) {
    const policy = policyOf(at);
    const slot = changetype<GateSlot>(at);
    if (policy) action = gate.onRequestTrailers(slot, policy);
  } else if (kind === Position.METER) meter.onRequestTrailers(changetype<MeterSlot>(at));
  else if (kind === Position.GUARD) guard.onRequestTrailers(changetype<GuardSlot>(at));
  release(top);
  return action;
}

export function proxy_on_response_headers(id: u32, _count: u32, isEnd: u32): Action {
  const at = findSlot(id);
  const kind = at !== 0 ? changetype<Slot>(at).kind : <u32>Position.UNKNOWN;
  if (kind === Position.GUARD) guard.onResponseHeaders();
  if (kind !== Position.METER) return Action.CONTINUE;
  const top = mark();
  const action = meter.onResponseHeaders(changetype<MeterSlot>(at), isEnd !== 0);
  release(top);
  return action;
}

export function proxy_on_response_body(id: u32, size: u32, isEnd: u32): Action {
  const at = findSlot(id);
  if (at === 0 || changetype<Slot>(at).kind !== Position.METER) return Action.CONTINUE;
  const top = mark();
  const action = meter.onResponseBody(changetype<MeterSlot>(at), size, isEnd !== 0);
  release(top);
  return action;
}

export function proxy_on_response_trailers(id: u32, _count: u32): Action {
  const at = findSlot(id);
  if (at === 0 || changetype<Slot>(at).kind !== Position.METER) return Action.CONTINUE;
  const top = mark();
  const action = meter.onResponseTrailers(changetype<MeterSlot>(at));
  release(top);
  return action;
}

/**
 * The end of a stream, whatever ended it, or of a root. Nothing comes after it that the filter needs, so it exports neither
 * on_log nor on_delete: each is one more call into the VM for each stream.
 */
export function proxy_on_done(id: u32): u32 {
  const at = removeSlot(id);
  if (at === 0) return 1;
  const top = mark();
  const kind = changetype<Slot>(at).kind;
  if (kind === Position.ROOT) deleteRoot(at);
  else if (kind === Position.METER) {
    meter.onDone(changetype<MeterSlot>(at));
    meterSlots.give(at);
  } else if (kind === Position.GATE) {
    const policy = policyOf(at);
    if (policy) gate.onDone(changetype<GateSlot>(at), policy);
    clearDesk(changetype<GateSlot>(at));
    gateSlots.give(at);
  } else if (kind === Position.GUARD) guardSlots.give(at);
  else admitSlots.give(at);
  release(top);
  return 1;
}

export function proxy_on_http_call_response(
  _root: u32,
  token: u32,
  headerCount: u32,
  bodySize: u32,
  _trailerCount: u32,
): void {
  const top = mark();
  if (!onSyncAnswer(token, bodySize)) onProbeAnswer(token, headerCount, bodySize);
  release(top);
}

/** The policy a gate's stream was admitted under. Null for a root that was never configured. */
function policyOf(at: usize): Policy | null {
  const root = findRoot(changetype<Slot>(at).root);
  return root ? root.policy : null;
}

/** What a meter was told of its cluster, if it was. */
function clusterOf(root: Root | null): ClusterRules | null {
  const cluster = root ? root.cluster : null;
  return cluster ? cluster.rules : null;
}
