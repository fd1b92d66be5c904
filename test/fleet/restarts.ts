// The service is restarted again and again under traffic that asks it about every request.
import type { CallRecord } from "../../demo/load/caller.js";
import { DEMO_MIX } from "../../demo/load/mix.js";
import { startLoad } from "../../demo/load.js";
import { waitFor } from "../support/wait-for.js";
import { RestartRig } from "./restart-rig.js";
import { type Result, Trial } from "./scenario.js";

export const restartsName = "restarts";

const perSecond = 500;
/** Below it the machine did not send what the test is about. */
const leastPerSecond = 450;
const restarts = 30;
/** Instead of a restart in good order. */
const killedAt = new Set([7, 15, 23]);
/** So often each process is asked before it ends, with more on their way. */
const askedEach = 50;
const askedWithinMs = 10_000;
const mix = { ...DEMO_MIX, longShare: 0, shortWords: [4, 20] as const, maxTokens: [16], completionsShare: 0 };
const patienceMs = 20_000;
/** An Envoy that has just started hears of it with its first exchange. */
const heardWithinMs = 3_000;

export async function playRestarts(): Promise<Result> {
  const rig = await RestartRig.start();
  const trial = new Trial();
  try {
    await rig.open("dead");
    await rig.force("public");
    await restartUnderLoad(rig, trial);
    await statesSurvive(rig, trial);
  } catch (error) {
    trial.check(
      "it could be played to its end",
      false,
      error instanceof Error ? error.message : String(error),
    );
  } finally {
    await rig.stop();
  }
  const { figures, checks, seconds } = trial;
  return { scenario: restartsName, engine: "none", seconds, figures, checks };
}

async function restartUnderLoad(rig: RestartRig, trial: Trial): Promise<void> {
  const load = startLoad({ port: rig.envoy.port(10000), perSecond, seed: 1, mix, patienceMs });
  const startMs = performance.now();
  let unasked = (await isAsked(rig)) ? 0 : 1;
  for (let at = 0; at < restarts + killedAt.size; at++) {
    await rig.restartService(killedAt.has(at));
    if (!(await isAsked(rig))) unasked++;
  }
  const seconds = (performance.now() - startMs) / 1000;
  const records = await load.stop();
  trial.note("restarts", restarts);
  trial.note("kills", killedAt.size);
  judge(records, seconds, trial);
  trial.note("asked about", await rig.asked());
  trial.exactly("processes that were hardly asked", unasked, 0);
}

/** Whether the service that runs is asked for a while. */
async function isAsked(rig: RestartRig): Promise<boolean> {
  const before = await rig.asked();
  const enough = async () => (await rig.asked()) >= before + askedEach;
  return await waitFor(enough, askedWithinMs).catch(() => false);
}

function judge(records: readonly CallRecord[], seconds: number, trial: Trial): void {
  const reached = records.length / seconds;
  trial.note("requests", records.length);
  trial.note("requests a second", reached);
  trial.check(`at least ${leastPerSecond} requests a second`, reached >= leastPerSecond, reached.toFixed(0));
  const failed = records.filter(({ verdict, backend }) => verdict !== "ok" || backend !== "gpu");
  const details = failed
    .slice(0, 3)
    .map(({ verdict, backend, detail }) => `${verdict} by ${backend}: ${detail}`);
  trial.note("failed", failed.length);
  trial.check(
    "every request is answered, by the first tier",
    failed.length === 0,
    details.join("; ") || "all",
  );
  const slowest = Math.max(...records.map(({ startMs, endMs }) => endMs - startMs));
  trial.note("slowest ms", slowest);
}

async function statesSurvive(rig: RestartRig, trial: Trial): Promise<void> {
  await statesHold(rig, trial, "the service's restarts");
  await rig.restartEnvoy();
  await statesHold(rig, trial, "Envoy's restart");
}

async function statesHold(rig: RestartRig, trial: Trial, what: string): Promise<void> {
  const dead = await rig.told("dead", ({ state }) => state === "OPEN");
  trial.check(`what was open is open after ${what}`, dead.state === "OPEN", JSON.stringify(dead));
  const forced = await rig.told("public", ({ mode }) => mode === "forcedOpen");
  trial.check(`an operator's word holds after ${what}`, forced.mode === "forcedOpen", JSON.stringify(forced));
  for (const backend of ["dead", "public"] as const) {
    const isRefused = await waitFor(async () => (await rig.statusOf(backend)) === 503, heardWithinMs).catch(
      () => false,
    );
    trial.check(`${backend} is refused after ${what}`, isRefused, `within ${heardWithinMs} ms`);
  }
}
