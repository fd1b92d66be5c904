import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeRequest } from "../support/sync-messages.js";
import type { HttpCall } from "./host/http-call.js";
import { World } from "./host/world.js";
import { SyncedProcess, syncedPolicy } from "./synced-process.js";

const TICK_MS = 250;

/** Two workers, of which the one that talks with the service lives for so many ticks of its own. */
function startAndLose(ticks: number): { process: SyncedProcess; last: HttpCall; silentMs: number } {
  const process = new SyncedProcess(new World(), syncedPolicy(), 2);
  let last = process.nextCall();
  // Requests and the lease's renewals go out of step.
  process.service.answer(last, [], { nextMs: TICK_MS });
  let silentMs = 0;
  for (let tick = 0; tick < ticks; tick++) {
    process.tick(TICK_MS);
    silentMs += TICK_MS;
    for (const call of process.service.takeCalls()) {
      process.service.answer(call);
      last = call;
      silentMs = 0;
    }
  }
  return { process, last, silentMs };
}

for (let ticks = 0; ticks < 12; ticks++) {
  test(`a leader that is gone ${ticks} ticks after its first request is followed before anybody counts as silent`, () => {
    const lost = startAndLose(ticks);
    const { process, last } = lost;
    let { silentMs } = lost;
    const rest = process.workers.filter(({ vm }) => vm !== last.vm);
    assert.equal(rest.length, 1);
    let next: HttpCall | undefined;
    while (!next) {
      process.world.clock.advance(TICK_MS);
      silentMs += TICK_MS;
      assert.ok(silentMs < 3_000, `nobody has asked for ${silentMs} ms`);
      for (const { vm, gate } of rest) vm.tick(gate);
      [next] = process.service.takeCalls();
    }
    // It goes on where the other one was.
    const request = decodeRequest(next.body);
    assert.equal(request.sequence, decodeRequest(last.body).sequence + 1);
    assert.equal(request.asksRestore, false);
  });
}
