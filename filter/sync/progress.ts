// How far this process's talk with the service has come for a policy, in shared data: the next leader goes on from there.
import { allocate } from "../host/arena";
import { random32 } from "../host/clock";
import { resultPtr, resultSize } from "../host/result";
import { MAX_TRIES, readShared, replaceShared } from "../host/shared-data";
import { Text } from "../host/text";
import { KEY_SYNC } from "../names";

@unmanaged
class Steps {
  /** The last request's number. */
  sent: u64;
  /** The newest request that was answered as it should be; 0 = none in this process yet. */
  answered: u64;
}

@final
export class Progress {
  private readonly key: Text;
  /** Whether the service had answered at all when the last number was given out. */
  hasAnswered: bool = false;

  constructor(policyName: string) {
    this.key = Text.of(KEY_SYNC.toString() + "/" + policyName);
  }

  /** The next request's number, or 0 when none can be had. */
  next(): u64 {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const steps = this.read();
      if (!steps) return 0;
      // A process begins anywhere, so that an answer that was meant for another one is none of its own.
      steps.sent = steps.sent === 0 ? <u64>random32() + 1 : steps.sent + 1;
      this.hasAnswered = steps.answered !== 0;
      if (this.write(steps)) return steps.sent;
    }
    return 0;
  }

  /** Whether an answer is newer than all before it, and is now the newest. */
  accept(sequence: u64): bool {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const steps = this.read();
      if (!steps || sequence <= steps.answered) return false;
      steps.answered = sequence;
      if (this.write(steps)) return true;
    }
    return false;
  }

  private isThere: bool = false;

  private read(): Steps | null {
    this.isThere = readShared(this.key);
    if (this.isThere && resultSize() === offsetof<Steps>()) return changetype<Steps>(resultPtr());
    const at = allocate(offsetof<Steps>());
    if (at === 0) return null;
    memory.fill(at, 0, offsetof<Steps>());
    return changetype<Steps>(at);
  }

  private write(steps: Steps): bool {
    return replaceShared(this.key, changetype<usize>(steps), offsetof<Steps>(), this.isThere);
  }
}
