import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../demo/clock.js";
import type { Check } from "../faults/checks.js";
import { type Figures, Trial } from "../fleet/scenario.js";
import type { Transition } from "../fleet/transitions.js";
import { findRepoRoot } from "../support/repo-root.js";
import { fill } from "./capacity.js";
import { mostCalls } from "./gateway-config.js";
import { leftovers, whenWell } from "./health.js";
import { judge } from "./judge.js";
import type { Fault } from "./plan.js";
import { type Played, playOutage, playRounds } from "./play.js";
import { letters, System } from "./system.js";
import { trappingModules } from "./trap-module.js";
import type { Reason } from "./unserved.js";

export interface KillSettings {
  readonly seed: number;
  readonly seconds: number;
  /** Absent: all there are. */
  readonly faults?: readonly Fault[];
  readonly say: (line: string) => void;
}

export interface KillResult {
  readonly seed: number;
  readonly seconds: number;
  readonly played: Played;
  readonly cut: ReadonlyMap<Reason, number>;
  readonly figures: Figures;
  readonly checks: readonly Check[];
  readonly transitions: readonly Transition[];
}

/** Until what has ended is in the access log. */
const flushedMs = 500;

/** Plays faults for a while, then an outage, and judges all of it. */
export async function playKills(settings: KillSettings): Promise<KillResult> {
  const system = await System.start(settings.seed);
  const trial = new Trial();
  try {
    onlyDebugTraps(trial);
    const untilMs = monotonicMs() + settings.seconds * 1_000;
    const played = await playRounds(system, trial, { ...settings, untilMs });
    await nothingIsHeld(system, trial);
    for (const letter of letters) system.gateways[letter].traffic.start();
    const outage = await playOutage(system, trial);
    for (const letter of letters) await system.gateways[letter].traffic.end();
    const { envoy } = system.gateways.a;
    trial.check("the first Envoy lives", envoy.logs.length === 1 && !envoy.running?.exit, "it does not");
    await sleep(flushedMs);
    await system.stop();
    const all = { ...played, strikes: [...played.strikes, outage] };
    const cut = judge(system, all, trial);
    const { figures, checks, seconds } = trial;
    const { transitions } = system;
    return { seed: settings.seed, seconds, played: all, cut, figures, checks, transitions };
  } finally {
    await system.stop();
    system.remove();
  }
}

function onlyDebugTraps(trial: Trial): void {
  const build = join(findRepoRoot(), "build");
  const debug = trappingModules(join(build, "debug"));
  const shipped = trappingModules(build);
  trial.check("the debug build can be told to trap", debug.length === 1, debug.join(", ") || "none can");
  trial.check("no module that ships can be", shipped.length === 0, shipped.join(", ") || "none");
}

/** Once nobody calls, nothing is held for anybody; and every call that a backend may have can be had. */
async function nothingIsHeld(system: System, trial: Trial): Promise<void> {
  for (const letter of letters) await system.gateways[letter].traffic.end();
  const held = [...(await leftovers(system))];
  const left = held.filter(([, count]) => count !== 0).map(([name, count]) => `${name}: ${count}`);
  trial.check(
    "nothing is held for anybody",
    held.length > 0 && left.length === 0,
    left.join(", ") || "nothing",
  );
  const { first, diverted, unserved } = await fill(system.gateways.a);
  trial.check(`gpu has room for ${mostCalls} calls`, first === mostCalls, `for ${first}`);
  trial.check("and for hardly more", diverted > 0, "for more");
  trial.check("and all of them are served", unserved === 0, `${unserved} are not`);
  await whenWell(system);
}
