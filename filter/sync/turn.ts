import { BackendRecord } from "../breaker/record";
import { mark, release } from "../host/arena";
import { Policy } from "../policy/policy";
import { readRecord } from "../records";
import { Lease } from "./leader";
import { Progress } from "./progress";

/** What this VM knows of its talk with the service about one policy; it counts while the VM is the leader. */
@final
export class Turn {
  readonly lease: Lease;
  readonly progress: Progress;
  /** Generation of each backend's record when it was last told. */
  private told: StaticArray<u32>;
  /** The backend that the next request begins with. */
  nextBackend: i32 = 0;
  /** The request in flight: 0 = none. */
  token: u32 = 0;
  sequence: u64 = 0;
  askedMs: u64 = 0;
  /** When the next request is due at the latest. */
  nextMs: u64 = 0;
  wasUp: bool = true;
  /** Of the last answer; 0 = none came. */
  status: i32 = 0;

  constructor(public policy: Policy) {
    this.lease = new Lease(policy.name);
    this.progress = new Progress(policy.name);
    this.told = new StaticArray<u32>(policy.backends.length);
  }

  /** A push has brought another policy of the same name. What is in flight was asked for the old one. */
  renew(policy: Policy): void {
    this.policy = policy;
    this.told = new StaticArray<u32>(policy.backends.length);
    this.nextBackend = 0;
    this.token = 0;
  }

  noteTold(index: i32, generation: u32): void {
    this.told[index] = generation;
  }

  /** Whether a backend has moved since it was told. O(backends). */
  hasNews(now: u64): bool {
    for (let i = 0; i < this.policy.backends.length; i++) {
      const top = mark();
      const at = readRecord(unchecked(this.policy.backends[i]), now);
      const hasMoved = at !== 0 && changetype<BackendRecord>(at).generation !== unchecked(this.told[i]);
      release(top);
      if (hasMoved) return true;
    }
    return false;
  }
}
