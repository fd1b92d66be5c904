import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../../demo/clock.js";
import type { Fleet } from "../fleet.js";
import { canaryCap } from "../gateway-config.js";
import { mostAtOnce } from "../gpu.js";
import { isCanary } from "../laws.js";
import type { Scenario, Trial } from "../scenario.js";
import { calm } from "../weather.js";
import { failFor, lastOf } from "./outage.js";

const convergeMs = 5_000;
const apartMs = 4_000;
/** A member is taken for gone after three seconds. */
const forgetMs = 3_500;

/**
 * On the large side it fails for half, which is no majority of theirs; on the small side for most, which is. Together that is
 * more than half of all: so what healing brings can be told from what each side comes to by itself.
 */
export const partition: Scenario = {
  name: "partition",
  what: "a partition in an outage, each side by its own majority; they heal and agree",
  engines: ["gossip"],
  isSplit: true,
  async run(fleet, trial) {
    const large = fleet.numbers.slice(0, fleet.majority);
    const small = fleet.numbers.slice(fleet.majority);
    split(fleet, large, small);
    await sleep(forgetMs);
    const failingLarge = large.slice(0, Math.floor(large.length / 2));
    const failingSmall = small.slice(0, Math.floor(small.length / 2) + 1);
    await failFor(fleet, [...failingLarge, ...failingSmall]);
    await fleet.whenAll("OPEN", small, 2_500).catch(() => {});
    trial.check("the small side has opened", isOpen(fleet, small), statesOf(fleet, small));
    await sleep(apartMs);
    const spared = large.slice(failingLarge.length);
    const moved = fleet.transitionsSince(trial.startMs, spared);
    trial.check("the large side has no majority", moved.length === 0, lastOf(moved));
    sideLaws(fleet, trial, large, "large");
    sideLaws(fleet, trial, small, "small");
    await heal(fleet, trial, spared);
  },
};

async function heal(fleet: Fleet, trial: Trial, spared: readonly number[]): Promise<void> {
  fleet.setWeather(calm);
  const healedMs = monotonicMs();
  await waitForOpen(fleet, spared);
  const lastMs = fleet.transitionsSince(healedMs, spared).findLast(({ to }) => to === "OPEN")?.atMs;
  trial.atMost("agreed after ms", (lastMs ?? Number.NaN) - healedMs, convergeMs);
  // Probes of the time before may still be on their way.
  await sleep(2_000);
  const healthyMs = monotonicMs();
  fleet.gpu.work();
  await fleet.whenAll("CLOSED");
  trial.note("closed everywhere after ms", monotonicMs() - healthyMs);
  await sleep(1_500);
  trial.check("nothing opens again", fleet.areAll("CLOSED"), lastOf(fleet.transitionsSince(healthyMs)));
  const seen = fleet.gpu.seenSince(healthyMs);
  const transitions = fleet.transitionsSince(0);
  trial.atMost("probes at once", mostAtOnce(seen.filter(({ isProbe }) => isProbe)), 1);
  trial.atMost("canaries at once", mostAtOnce(seen.filter((each) => isCanary(each, transitions))), canaryCap);
}

function split(fleet: Fleet, ...sides: readonly (readonly number[])[]): void {
  for (const side of sides) {
    const deafTo = fleet.numbers.filter((number) => !side.includes(number));
    for (const number of side) fleet.gateway(number).setWeather({ ...calm, deafTo });
  }
}

function sideLaws(fleet: Fleet, trial: Trial, side: readonly number[], name: string): void {
  const seen = fleet.gpu.seenSince(trial.startMs).filter(({ gateway }) => side.includes(gateway));
  trial.atMost(`probes at once on the ${name} side`, mostAtOnce(seen.filter(({ isProbe }) => isProbe)), 1);
}

async function waitForOpen(fleet: Fleet, numbers: readonly number[]): Promise<void> {
  const openings = () => numbers.filter((number) => fleet.gateway(number).state !== "CLOSED");
  const deadline = monotonicMs() + 2 * convergeMs;
  while (openings().length < numbers.length && monotonicMs() < deadline) await sleep(20);
}

/** A prober among them may just be asking. */
function isOpen(fleet: Fleet, numbers: readonly number[]): boolean {
  return numbers.every((number) => fleet.gateway(number).state !== "CLOSED");
}

function statesOf(fleet: Fleet, numbers: readonly number[]): string {
  return numbers.map((number) => `${number} ${fleet.gateway(number).state}`).join(", ");
}
