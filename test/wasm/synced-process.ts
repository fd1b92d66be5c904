import assert from "node:assert/strict";
import type { GivenDirective } from "../support/sync-messages.js";
import type { HttpCall } from "./host/http-call.js";
import type { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { SyncService } from "./sync-service.js";
import { type BackendAnswer, Worker } from "./worker.js";

type Json = Readonly<Record<string, unknown>>;

/** A policy that names the service; small waits, a ramp that every small request may feed. */
export function syncedPolicy(breaker: Json = {}, more: Json = {}): string {
  const ramp = [{ percent: 100, maxConcurrent: 2, successes: 2 }];
  const policy = JSON.parse(policyWith({ waitDurationInOpenState: "1s", ramp, ...breaker }));
  return JSON.stringify({ ...policy, service: { cluster: "service" }, ...more });
}

/** The workers of one process, and the service that they sync with. */
export class SyncedProcess {
  readonly workers: readonly Worker[];
  readonly service: SyncService;

  constructor(
    readonly world: World,
    policy = syncedPolicy(),
    count = 1,
  ) {
    this.workers = Array.from({ length: count }, () => new Worker(world, policy));
    this.service = new SyncService(world);
  }

  get worker(): Worker {
    const [first] = this.workers;
    assert.ok(first);
    return first;
  }

  /** Every root of every worker ticks. */
  tick(afterMs = 250): void {
    this.world.clock.advance(afterMs);
    for (const { vm, gate, admit, meter } of this.workers) {
      for (const root of [gate, admit, meter]) vm.tick(root);
    }
  }

  /** Ticks until the service is asked. */
  nextCall(): HttpCall {
    for (let tick = 0; tick < 10; tick++) {
      const [call] = this.service.takeCalls();
      if (call) return call;
      this.tick();
    }
    throw new Error("the service was not asked within 2.5 s");
  }

  /** What the service says of gpu, as the next answer brings it; others it does not know. */
  hear(directive: Omit<GivenDirective, "name"> = {}): void {
    this.service.takeCalls();
    this.tick(1_000);
    this.service.answer(this.nextCall(), [{ name: "gpu", ...directive }]);
  }

  /** Time passes while the service says nothing new. */
  wait(elapsedMs: number): void {
    for (let passed = 0; passed < elapsedMs; passed += 250) this.tick(Math.min(250, elapsedMs - passed));
  }

  /** The backend that serves a plain request now; undefined when none does. */
  servedBy(answer?: BackendAnswer): string | undefined {
    const { attempts, localReply } = this.worker.send(answer ? { answer: () => answer } : {});
    return localReply ? undefined : attempts.at(-1)?.cluster;
  }

  logs(pattern: RegExp): string[] {
    return this.workers.flatMap(({ vm }) =>
      vm.logs.map(({ text }) => text).filter((text) => pattern.test(text)),
    );
  }
}
