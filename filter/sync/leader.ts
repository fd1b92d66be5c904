// Which VM of the process talks to the service for a policy: the holder of a lease in shared data, which a hung or removed VM loses.
import { allocate } from "../host/arena";
import { secret64 } from "../host/clock";
import { resultPtr, resultSize } from "../host/result";
import { createShared, readShared, sharedCas, writeShared } from "../host/shared-data";
import { Text } from "../host/text";
import { KEY_LEADER } from "../names";

/** With a second since its last request and the next one's tick it stays below the 3 s after which we, or this gateway, would count as silent. */
const LEASE_MS: u64 = 1500;
/** Renewed when so much of it is left, so that a slow tick does not lose it. */
const RENEW_AT_MS: u64 = 1000;

@unmanaged
class Held {
  holder: u64;
  untilMs: u64;
}

let self: u64 = 0;

/** Each policy has a leader of its own: of two in one process each has its own backends to tell of. */
@final
export class Lease {
  private readonly key: Text;
  private untilMs: u64 = 0;

  constructor(policyName: string) {
    this.key = Text.of(KEY_LEADER.toString() + "/" + policyName);
  }

  /** Takes the lease where it is free, renews it where it is ours; whether this VM has it. */
  hold(now: u64): bool {
    if (now + RENEW_AT_MS < this.untilMs) return true;
    if (self === 0) self = secret64() | 1;
    this.untilMs = 0;
    const lease = allocate(offsetof<Held>());
    if (lease === 0) return false;
    const ours = changetype<Held>(lease);
    ours.holder = self;
    ours.untilMs = now + LEASE_MS;
    if (!this.write(lease, now)) return false;
    this.untilMs = now + LEASE_MS;
    return true;
  }

  private write(lease: usize, now: u64): bool {
    if (!readShared(this.key)) return createShared(this.key, lease, offsetof<Held>());
    const isWhole = resultSize() === offsetof<Held>();
    const held = changetype<Held>(resultPtr());
    if (isWhole && held.holder !== self && now < held.untilMs) return false;
    return writeShared(this.key, lease, offsetof<Held>(), sharedCas());
  }
}
