// Where a route leaves the chain to the request: the model in its body decides.
import { isAmbiguous, namesModel, peekModel, RequestPeek } from "../bytes/request-peek";
import { writeFilterState } from "../host/properties";
import { Action } from "../host/stream";
import * as names from "../names";
import { Exhausted, Policy } from "../policy/policy";
import { saveRequest } from "../request-record";
import { askForLimits } from "./asking";
import { refuseAmbiguousModel, refuseUnknownModel } from "./refusal";
import { isForm } from "./request-headers";
import { GateSlot, requestOf } from "./slot";

/** Whether no chain can answer anything now, as far as this VM knows without a look at shared data. O(backends). */
export function refusesAll(policy: Policy, now: u64): bool {
  for (let i = 0; i < policy.chains.length; i++) {
    if (unchecked(policy.chains[i]).exhausted !== Exhausted.REPLY) return false;
  }
  for (let i = 0; i < policy.backends.length; i++) {
    if (!unchecked(policy.backends[i]).isRefusedAt(now)) return false;
  }
  return true;
}

/** Whether the request has a body in which a model may be found. A form's fields are not looked into. */
export function hasReadableBody(slot: GateSlot): bool {
  return requestOf(slot).isPost && slot.hasBody && !isForm;
}

/** The chain that the whole body asks for; -1 when the caller has been answered: there is none, or the body names two models. */
export function chainOfBody(peek: RequestPeek, policy: Policy): i32 {
  if (isAmbiguous(peek)) {
    refuseAmbiguousModel();
    return -1;
  }
  return namesModel(peek)
    ? chainOfModel(policy, peekModel(peek), peek.modelLength)
    : chainOfModel(policy, 0, 0);
}

/**
 * The chain of a model, or of a request whose model is not known; -1 when the caller has been answered: there is none.
 * @param length bytes of the name; 0 = not known
 */
export function chainOfModel(policy: Policy, model: usize, length: i32): i32 {
  const named = length > 0 ? policy.findChainOfModel(model, length) : -1;
  const at = named >= 0 ? named : policy.defaultChain;
  if (at < 0) refuseUnknownModel(model, length);
  return at;
}

/**
 * The body is in a coding that is not read here: the service reads it, and admit chooses the chain. Should that have
 * limits, they are checked now or never.
 */
export function leaveToAdmit(slot: GateSlot, policy: Policy): Action {
  if (policy.hasLimits) askForLimits();
  saveRequest(requestOf(slot), policy.nameText);
  writeFilterState(names.STATE_STEP, names.STEP_COUNT.ptr, names.STEP_COUNT.length);
  return Action.CONTINUE;
}
