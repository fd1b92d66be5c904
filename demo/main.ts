import { existsSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { findRepoRoot } from "../extproc/root.js";
import { findCacheFolder } from "./story/envoy.js";
import { createScreen, type Screen } from "./story/screen.js";
import { checkList, phaseTable, renderTable } from "./story/table.js";
import { type StoryOptions, type StoryResult, tellStory } from "./story.js";

const USAGE = `Usage: npx llm-breaker demo [options], or npm run demo -- [options], which builds and fetches what is missing
  --json FILE        write the figures there
  --seed N           moves the fault's time and the mix (default 1)
  --concurrency N    Envoy's worker threads (default 2)
  --real[=stop]      a real model on a real server is the primary; it is killed and restarted (stop: frozen by SIGSTOP)
  --quick            shorter healthy parts and a shorter fault (not with --real)`;

/** Longer than any story takes; what runs longer hangs. */
const HARD_LIMIT_MS = 240_000;

class UsageError extends Error {
  override name = "UsageError";
}

interface Command extends StoryOptions {
  readonly jsonFile: string | undefined;
}

async function parseCommand(args: readonly string[]): Promise<Command> {
  // parseArgs has no option with an optional value, so the two forms of --real become two options.
  const plain = args.map((arg) => (arg === "--real=stop" ? "--real-stop" : arg));
  const { values } = parseArgs({
    args: plain,
    options: {
      json: { type: "string" },
      seed: { type: "string", default: "1" },
      concurrency: { type: "string", default: "2" },
      real: { type: "boolean", default: false },
      "real-stop": { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
    },
  });
  const whole = (name: string, text: string, least: number): number => {
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw new UsageError(`--${name} must be a whole number of at least ${least}, got ${text}`);
  };
  if (values.json !== undefined && !existsSync(dirname(resolve(values.json)))) {
    throw new UsageError(`--json: cannot write ${values.json}, there is no such folder`);
  }
  const isReal = values.real || values["real-stop"];
  if (isReal && values.quick) throw new UsageError("--quick does not go with --real");
  const repoRoot = findRepoRoot();
  return {
    repoRoot,
    logFolder: join(await findCacheFolder(repoRoot), "demo-logs"),
    seed: whole("seed", values.seed, 0),
    concurrency: whole("concurrency", values.concurrency, 1),
    real: values["real-stop"] ? "stop" : values.real ? "kill" : undefined,
    quick: values.quick,
    jsonFile: values.json,
  };
}

function report(screen: Screen, result: StoryResult, primary: string): boolean {
  const { summary, spans, records, checks } = result;
  const tiers = [...new Set([primary, ...Object.keys(summary.perTier).sort()])];
  screen.print(`\n${phaseTable(spans, records, tiers, result)}\n`);
  const figures = Object.entries(summary).filter(([, value]) => typeof value === "number");
  screen.print(`${renderTable(figures.map(([name, value]) => [name, String(value)]))}\n`);
  screen.print(checkList(checks));
  const broken = checks.filter(({ kept }) => !kept);
  screen.print(
    broken.length === 0
      ? "\nThe story holds."
      : `\nThe story does not hold: ${broken.length} of ${checks.length} promises were not kept.`,
  );
  return broken.length === 0;
}

function toJson(command: Command, result: StoryResult): string {
  const { summary, clusters, checks, transitions, startMs, endMs } = result;
  const { seed, concurrency, real } = command;
  const envoyStats = Object.fromEntries(
    clusters.map(({ cluster, envoy, fleet }) => [cluster, { envoy, fleet, difference: envoy - fleet }]),
  );
  const failed = checks.filter(({ kept }) => !kept).map(({ promise, seen }) => `${promise}: ${seen}`);
  const durationMs = Math.round(endMs - startMs);
  const primary = real === undefined ? "simulated" : `real, ${real}`;
  const figures = { ...summary, seed, concurrency, primary, durationMs, envoyStats, failed, transitions };
  return `${JSON.stringify(figures, null, 2)}\n`;
}

async function main(): Promise<number> {
  if (process.argv.slice(2).some((word) => word === "--help" || word === "-h")) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const command = await parseCommand(process.argv.slice(2));
  const screen = createScreen(
    (text) => process.stdout.write(text),
    process.stdout.isTTY === true,
    process.stdout.columns,
  );
  const stopping = new AbortController();
  const limit = setTimeout(
    () => stopping.abort(new Error("the story took longer than 240 s")),
    HARD_LIMIT_MS,
  );
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => stopping.abort(new Error(`stopped by ${signal}`)));
  }
  try {
    const result = await tellStory(command, screen, stopping.signal);
    const holds = report(screen, result, "gpu");
    if (command.jsonFile !== undefined) writeFileSync(command.jsonFile, toJson(command, result));
    return holds ? 0 : 1;
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    console.error(
      `demo: ${(stopping.signal.reason as Error).message}; everything it had started is stopped.`,
    );
    return 1;
  } finally {
    clearTimeout(limit);
  }
}

/** By name: the class of a missing Envoy comes from a script that is loaded at run time. */
const EXPECTED = [
  "PortBusyError",
  "RealModelError",
  "ChildError",
  "CacheFolderError",
  "EnvoyUnavailableError",
];

function explain(error: unknown): string {
  if (error instanceof Error && EXPECTED.includes(error.name)) return error.message;
  const isUsage =
    error instanceof UsageError ||
    (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));
  if (isUsage) return `${(error as Error).message}\n${USAGE}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(`demo: ${explain(error)}`);
    process.exit(1);
  },
);
