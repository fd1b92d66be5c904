import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../demo/clock.js";
import type { Trial } from "../fleet/scenario.js";
import { waitFor } from "../support/wait-for.js";
import type { Split } from "./backend-laws.js";
import { gauges, whenWell } from "./health.js";
import { nameOf, type Round, rounds } from "./plan.js";
import { Samples } from "./samples.js";
import { type Strike, Strikes } from "./strikes.js";
import { letters, type System } from "./system.js";

const calmMs = 1_000;
/** Until a killed backend is Open on a gateway: five of its calls have failed, or the group's have. */
const openWithinMs = 4_000;
const outageMs = 2_000;

/** What was played, for the laws to judge. */
export interface Played {
  readonly strikes: readonly Strike[];
  readonly splits: readonly Split[];
  readonly samples: Samples;
  readonly wellMs: readonly number[];
  readonly rounds: number;
}

export interface PlaySettings {
  readonly seed: number;
  /** No round begins later. */
  readonly untilMs: number;
  readonly faults?: Parameters<typeof rounds>[1];
  readonly say: (line: string) => void;
}

/** Faults, and after each one health again, until the time is over. */
export async function playRounds(system: System, trial: Trial, settings: PlaySettings): Promise<Played> {
  const strikes = new Strikes(system);
  const played = { splits: [] as Split[], samples: new Samples(), wellMs: [] as number[], rounds: 0 };
  await whenWell(system);
  for (const letter of letters) system.gateways[letter].traffic.start();
  await sleep(calmMs);
  played.samples.take(system);
  for (const round of rounds(settings.seed, settings.faults)) {
    if (monotonicMs() >= settings.untilMs) break;
    const struck = await strikes.play(round, (all) => deadAreOpen(system, all, trial));
    const wellMs = await whenWell(system);
    settings.say(told(round, wellMs));
    played.rounds++;
    played.wellMs.push(wellMs);
    played.splits.push(...splitsOf(struck));
    await sleep(calmMs);
    played.samples.take(system);
  }
  return { ...played, strikes: strikes.all };
}

/** gpu dies for all, and comes back by a probe and canaries: whatever has happened before, that still works. */
export async function playOutage(system: System, trial: Trial): Promise<Strike> {
  const { gpu } = system.backends;
  const atMs = monotonicMs();
  await gpu.kill();
  const doneMs = monotonicMs();
  const strike: Strike = { act: "kill", victim: "gpu", atMs, doneMs, endMs: Number.POSITIVE_INFINITY };
  await deadAreOpen(system, [strike], trial);
  await sleep(outageMs);
  await gpu.revive();
  strike.endMs = monotonicMs();
  trial.note("ms to be well after the last outage", await whenWell(system));
  for (const letter of letters) {
    const causes = system.gateways[letter].transitionsOf("gpu");
    const last = causes.filter((each) => each.atMs > strike.endMs).map(({ cause }) => cause);
    const isRamp = last.some((cause) => /RAMP_COMPLETE|GROUP_CLOSED/.test(cause));
    trial.check(`a ramp has closed gpu on gateway-${letter}`, isRamp, last.join(", "));
  }
  return strike;
}

/** While a backend is dead no gateway that lives takes it for well. */
async function deadAreOpen(system: System, strikes: readonly Strike[], trial: Trial): Promise<void> {
  const dead = strikes.filter(({ act, victim }) => act === "kill" && victim === "gpu");
  for (const { victim } of dead) {
    for (const letter of letters) {
      const gateway = system.gateways[letter];
      if (!gateway.envoy.isUp) continue;
      const isOpen = async () => ((await gauges(gateway)).get(victim) ?? 0) !== 0;
      const opened = await waitFor(isOpen, openWithinMs).catch(() => false);
      trial.check(`dead ${victim} is not Closed on gateway-${letter}`, opened, "it is");
    }
  }
}

/** Times in which the group's members can't hear each other: until they do, by the health that was waited for. */
function splitsOf(struck: readonly Strike[]): Split[] {
  const isSplitting = ({ victim }: Strike) => /redis|service|gateway/.test(victim);
  return struck.filter(isSplitting).map(({ atMs }) => ({ fromMs: atMs, toMs: monotonicMs() }));
}

function told({ faults, lastMs }: Round, wellMs: number): string {
  return `${faults.map(nameOf).join(" and ")} for ${lastMs} ms: well after ${Math.round(wellMs)} ms`;
}
