import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../../demo/clock.js";
import { waitFor } from "../../support/wait-for.js";
import type { Fleet } from "../fleet.js";
import type { Scenario } from "../scenario.js";

const limitMs = 2_000;
/** Answers that were on their way. */
const onItsWayMs = 500;
const watchMs = 1_000;

export const operator: Scenario = {
  name: "operator",
  what: "a word told to one gateway holds on all of them, and is taken back at another one",
  engines: ["gossip", "redis"],
  async run(fleet, trial) {
    const told = await whenAllLog(fleet, /override .*"mode":"forcedOpen"/, () =>
      fleet.gateway(0).command("POST", "/v1/backends/gpu/open", { for: "1m", why: "a new driver" }),
    );
    trial.atMost("open everywhere after ms", told, limitMs);
    await sleep(onItsWayMs);
    const quietMs = monotonicMs();
    await sleep(watchMs);
    trial.exactly("requests while forced open", fleet.gpu.seenSince(quietMs).length, 0);
    const last = fleet.numbers.length - 1;
    const ended = await whenAllLog(fleet, /override .*"ended":"withdrawn"/, () =>
      fleet.gateway(last).command("DELETE", "/v1/backends/gpu/override"),
    );
    trial.atMost("taken back everywhere after ms", ended, limitMs);
    const backMs = monotonicMs();
    const all = fleet.numbers.length;
    const served = () => new Set(fleet.gpu.seenSince(backMs).map(({ gateway }) => gateway)).size === all;
    await waitFor(served, limitMs, "requests of every gateway at the GPU");
  },
};

/** How long it takes from a command until each Envoy has logged a further line of that kind. */
async function whenAllLog(fleet: Fleet, line: RegExp, command: () => Promise<number>): Promise<number> {
  const counts = () => fleet.gateways.map(({ envoy }) => envoy?.log.matching(line).length ?? 0);
  const before = counts();
  const startMs = monotonicMs();
  const status = await command();
  assert.ok(status === 200, `the command was answered ${status}`);
  const isTold = () => counts().every((count, number) => count > (before[number] ?? 0));
  await waitFor(isTold, 4 * limitMs, `a line ${line} of every Envoy`);
  return monotonicMs() - startMs;
}
