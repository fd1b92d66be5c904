// Whether our own service lives. The leader asks it; all VMs read in shared data when it has answered last. Tiers whose body must
// be rewritten are skipped while it is away, so that no backend gets a request made for another one.
import { allocate } from "../host/arena";
import { nowMs } from "../host/clock";
import { resultPtr, resultSize } from "../host/result";
import { createShared, readShared, writeShared } from "../host/shared-data";
import { KEY_SERVICE } from "../names";
import { Policy } from "../policy/policy";

const STALE_AFTER_MS: u64 = 3000;
/** From then on this gateway goes by itself alone. */
export const LOST_AFTER_MS: u64 = 30000;
const REFRESH_MS: u64 = 200;

@unmanaged
class Pulse {
  /** The last good answer; 0 = none yet. */
  answeredMs: u64;
  /** Since then there is a policy that names a service: what has just begun to be asked is not taken for silent. */
  sinceMs: u64;
}

/** This VM's copy. */
let heardMs: u64 = 0;
let readAtMs: u64 = 0;

/** True when the service answered lately, or when the policy names none; unknown counts as up at the very start. */
export function isServiceUp(policy: Policy): bool {
  return !policy.serviceCluster || silentForMs() < STALE_AFTER_MS;
}

/** True when no count has been to be had for so long that a recovery may not wait for one any more. */
export function isServiceLost(policy: Policy): bool {
  return policy.serviceCluster != null && silentForMs() >= LOST_AFTER_MS;
}

/** Called where a policy that names a service begins. */
export function awaitService(now: u64): void {
  putPulse(0, now, true);
}

/** The service has answered, as it should. */
export function noteAnswer(now: u64): void {
  putPulse(now, now, false);
}

/** Read from shared data at most five times a second. */
function silentForMs(): u64 {
  const now = nowMs();
  if (heardMs === 0 || now - readAtMs >= REFRESH_MS) {
    readAtMs = now;
    if (!readShared(KEY_SERVICE) || resultSize() !== offsetof<Pulse>()) return 0;
    const pulse = changetype<Pulse>(resultPtr());
    heardMs = max(pulse.answeredMs, pulse.sinceMs);
  }
  return now > heardMs ? now - heardMs : 0;
}

function putPulse(answeredMs: u64, sinceMs: u64, isFirst: bool): void {
  const at = allocate(offsetof<Pulse>());
  if (at === 0) return;
  const pulse = changetype<Pulse>(at);
  pulse.answeredMs = answeredMs;
  pulse.sinceMs = sinceMs;
  if (isFirst) createShared(KEY_SERVICE, at, offsetof<Pulse>());
  else writeShared(KEY_SERVICE, at, offsetof<Pulse>(), 0);
}
