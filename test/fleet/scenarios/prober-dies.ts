import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../../demo/clock.js";
import { waitFor } from "../../support/wait-for.js";
import type { Fleet } from "../fleet.js";
import type { Gateway } from "../gateway.js";
import { probeLeaseMs } from "../gateway-config.js";
import type { Seen } from "../gpu.js";
import type { Scenario, Trial } from "../scenario.js";
import { failForAll, lastOf } from "./outage.js";

/** On top of the lease: until the others have agreed on the next one, and it has been told. */
const agreeMs = 1_000;
const quietMs = 1_000;

async function dieInProbe(
  fleet: Fleet,
  trial: Trial,
  kill: (prober: Gateway) => Promise<void>,
): Promise<void> {
  fleet.gpu.hangsProbes = true;
  await failForAll(fleet);
  const first = await probeSince(fleet, trial.startMs, fleet.numbers);
  const prober = fleet.gateway(first.gateway);
  await kill(prober);
  fleet.gpu.work();
  const others = fleet.numbers.filter((number) => number !== prober.number);
  const second = await probeSince(fleet, first.atMs, others);
  trial.atMost("taken over after ms", second.atMs - first.atMs, probeLeaseMs + agreeMs);
  await fleet.whenAll("CLOSED", others);
  const closedMs = monotonicMs();
  await prober.revive();
  await fleet.whenAll("CLOSED");
  await sleep(quietMs);
  const reopened = fleet.transitionsSince(closedMs, others).filter(({ to }) => to !== "CLOSED");
  trial.check("its return opens nothing", reopened.length === 0, lastOf(reopened));
}

async function probeSince(fleet: Fleet, sinceMs: number, numbers: readonly number[]): Promise<Seen> {
  const find = () =>
    fleet.gpu.seenSince(sinceMs).find(({ isProbe, gateway }) => isProbe && numbers.includes(gateway));
  return await waitFor(find, 15_000, `a probe by one of ${numbers}`);
}

const what = "the prober dies in mid-probe and another takes over";

export const probersEnvoyDies: Scenario = {
  name: "prober-envoy",
  what: `${what}: its Envoy`,
  engines: ["gossip"],
  run: (fleet, trial) => dieInProbe(fleet, trial, (prober) => prober.killEnvoy()),
};

export const probersServiceDies: Scenario = {
  name: "prober-service",
  what: `${what}: its service`,
  engines: ["gossip"],
  run: (fleet, trial) => dieInProbe(fleet, trial, (prober) => prober.killService()),
};

export const proberDies: Scenario = {
  name: "prober",
  what: `${what}: both`,
  engines: ["gossip"],
  run: (fleet, trial) =>
    dieInProbe(fleet, trial, async (prober) => {
      await Promise.all([prober.killEnvoy(), prober.killService()]);
    }),
};
