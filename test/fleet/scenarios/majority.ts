import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet } from "../fleet.js";
import type { Scenario, Trial } from "../scenario.js";
import { calm } from "../weather.js";
import { failFor, lastOf, recover } from "./outage.js";

const limitMs = 2_500;
const watchMs = 10_000;
const lossPercent = 20;

async function majorityAndBack(fleet: Fleet, trial: Trial): Promise<void> {
  const failing = fleet.numbers.slice(0, fleet.majority);
  const lastOwnMs = await failFor(fleet, failing);
  await fleet.whenAll("OPEN");
  const firstOf = (number: number) =>
    fleet.transitionsSince(trial.startMs, [number]).find(({ to }) => to === "OPEN")?.atMs ?? Number.NaN;
  const lastMs = Math.max(...fleet.numbers.map(firstOf));
  trial.atMost("open everywhere after ms", Math.max(0, lastMs - lastOwnMs), limitMs);
  // Whoever sends the first probe, it fails.
  fleet.gpu.failFor(fleet.numbers);
  await recover(fleet, trial);
}

export const majority: Scenario = {
  name: "majority",
  what: "it fails for more than half: open on all, one probe, few canaries, closed on all",
  engines: ["gossip", "redis"],
  run: majorityAndBack,
};

export const loss: Scenario = {
  name: "loss",
  what: "the same while a fifth of all messages is lost",
  engines: ["gossip"],
  async run(fleet, trial) {
    fleet.setWeather({ ...calm, lossPercent });
    trial.note("loss percent", lossPercent);
    await majorityAndBack(fleet, trial);
  },
};

export const minority: Scenario = {
  name: "minority",
  what: "it fails for less than half: the others never open",
  engines: ["gossip"],
  async run(fleet, trial) {
    const failing = fleet.numbers.slice(0, fleet.gateways.length - fleet.majority);
    const others = fleet.numbers.slice(failing.length);
    await failFor(fleet, failing);
    await sleep(watchMs);
    const moved = fleet.transitionsSince(trial.startMs, others);
    trial.check("the others stay closed", moved.length === 0, lastOf(moved));
    trial.note("watched ms", watchMs);
    fleet.gpu.work();
    await fleet.whenAll("CLOSED");
  },
};
