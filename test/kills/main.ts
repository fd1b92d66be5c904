// Processes killed and stopped, and VMs that trap, under load.
import { parseArgs } from "node:util";
import { playKills } from "./kills.js";
import { allFaults, type Fault, nameOf } from "./plan.js";
import { asJson, asTable, told } from "./report.js";

const usage = `Usage: npm run test:kills -- [options]
  --minutes N        how long faults go on (default 10)
  --seed N           which faults, when, and what callers ask (default 1)
  --only NAME,NAME   some of: ${allFaults.map(nameOf).join(", ")}
  --json             one line of JSON on stdout, progress on stderr`;

class UsageError extends Error {
  override name = "UsageError";
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "10" },
      seed: { type: "string", default: "1" },
      only: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const say = values.json ? console.error : console.log;
  const seed = number("seed", values.seed);
  const faults = chosenFaults(values.only);
  const result = await playKills({ seed, seconds: number("minutes", values.minutes) * 60, faults, say });
  say(told(result));
  say(asTable(result));
  if (values.json) console.log(asJson(result));
  const failed = result.checks.filter(({ passed }) => !passed).length;
  say(`${result.checks.length - failed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

function chosenFaults(only: string | undefined): readonly Fault[] {
  const names = only?.split(",").map((name) => name.trim());
  const unknown = names?.filter((name) => !allFaults.some((fault) => nameOf(fault) === name)) ?? [];
  if (unknown.length > 0) throw new UsageError(`--only: no fault "${unknown.join(", ")}"`);
  return allFaults.filter((fault) => !names || names.includes(nameOf(fault)));
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`--${name} must be a number above 0, got ${text}`);
}

main().catch((error: Error & { code?: string }) => {
  const isUsage = error.name === "UsageError" || error.code?.startsWith("ERR_PARSE_ARGS");
  console.error(isUsage ? `${error.message}\n\n${usage}` : error);
  process.exitCode = 1;
});
