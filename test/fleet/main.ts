// Many gateways on one machine: what they come to together, whoever fails, dies, or can't be heard.
import { parseArgs } from "node:util";
import { type Fleet, startFleet } from "./fleet.js";
import type { Engine } from "./gateway-config.js";
import { asJson, type FleetRun, told, toldUsage, totals } from "./report.js";
import { playRestarts, restartsName } from "./restarts.js";
import { play, type Result, type Scenario } from "./scenario.js";
import { alone } from "./scenarios/alone.js";
import { loss, majority, minority } from "./scenarios/majority.js";
import { operator } from "./scenarios/operator.js";
import { partition } from "./scenarios/partition.js";
import { proberDies, probersEnvoyDies, probersServiceDies } from "./scenarios/prober-dies.js";
import { strangers } from "./scenarios/strangers.js";
import { usageOf } from "./usage.js";

/** In this order; the last one may leave the engine dead. */
const scenarios: readonly Scenario[] = [
  majority,
  minority,
  probersEnvoyDies,
  probersServiceDies,
  proberDies,
  loss,
  partition,
  strangers,
  operator,
  alone,
];

const engines: readonly Engine[] = ["gossip", "redis"];
/** The other engine carries the same messages: fewer gateways show that it does. */
const redisGateways = 3;
const leastGateways = 3;
const mostGateways = 16;

const names = [...scenarios.map(({ name }) => name), restartsName];
const usage = `Usage: npm run test:fleet -- [options]
  --gateways N       of the fleet that gossips, ${leastGateways} to ${mostGateways} (default 7); the one with Redis has ${redisGateways}
  --engine NAME      only gossip or redis
  --only NAME,NAME   some of: ${names.join(", ")}
  --json             one line of JSON on stdout, progress on stderr`;

class UsageError extends Error {
  override name = "UsageError";
}

type Say = (line: string) => void;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      gateways: { type: "string", default: "7" },
      engine: { type: "string" },
      only: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const say = values.json ? console.error : console.log;
  const startMs = performance.now();
  const only = values.only?.split(",");
  const chosen = chosenScenarios(only);
  const runs = await runFleets(chosenEngines(values.engine), gateways(values.gateways), chosen, say);
  const isRestarting = only === undefined ? values.engine === undefined : only.includes(restartsName);
  const restarts = isRestarting ? [await playRestarts()] : [];
  for (const result of restarts) say(told(result));
  const results = [...runs.flatMap((run) => run.results), ...restarts];
  const seconds = (performance.now() - startMs) / 1000;
  if (values.json) console.log(asJson(runs, results, seconds));
  const { passed, failed } = totals(results);
  say(`${Math.round(seconds)} s`);
  say(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

/** Side by side, since they mostly wait; but one after the other starts. */
async function runFleets(
  engines: readonly Engine[],
  count: number,
  chosen: readonly Scenario[],
  say: Say,
): Promise<FleetRun[]> {
  const running: Promise<FleetRun>[] = [];
  for (const engine of engines) {
    const played = chosen.filter((scenario) => scenario.engines.includes(engine));
    if (played.length === 0) continue;
    const fleet = await startFleet(engine, engine === "redis" ? redisGateways : count);
    running.push(run(fleet, played, say));
  }
  return await Promise.all(running);
}

async function run(fleet: Fleet, played: readonly Scenario[], say: Say): Promise<FleetRun> {
  const { engine } = fleet.meeting;
  const results: Result[] = [];
  try {
    for (const scenario of played) {
      const result = await play(scenario, fleet);
      results.push(result);
      say(told(result));
    }
    const usage = usageOf(fleet);
    const gateways = fleet.gateways.length;
    say(`${gateways} gateways by ${engine}: ${toldUsage(usage)}`);
    return { engine, gateways, usage, results };
  } finally {
    await fleet.stop();
  }
}

function chosenScenarios(only: readonly string[] | undefined): readonly Scenario[] {
  const unknown = only?.filter((each) => !names.includes(each)) ?? [];
  if (unknown.length > 0) throw new UsageError(`--only: no scenario "${unknown.join(", ")}"`);
  return scenarios.filter(({ name }) => !only || only.includes(name));
}

function chosenEngines(only: string | undefined): readonly Engine[] {
  const chosen = engines.filter((engine) => only === undefined || engine === only);
  if (chosen.length === 0) throw new UsageError(`--engine must be gossip or redis, got ${only}`);
  return chosen;
}

function gateways(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= leastGateways && value <= mostGateways) return value;
  throw new UsageError(`--gateways must be ${leastGateways} to ${mostGateways}, got ${text}`);
}

main().catch((error: Error & { code?: string }) => {
  const isUsage = error.name === "UsageError" || error.code?.startsWith("ERR_PARSE_ARGS");
  console.error(isUsage ? `${error.message}\n\n${usage}` : error);
  process.exitCode = 1;
});
