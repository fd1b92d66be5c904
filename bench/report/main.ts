// Measures everything, or takes what was measured, and writes docs/benchmarks.md with its pictures.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findRepoRoot } from "../../test/support/repo-root.js";
import { benches } from "../benches.js";
import { machine } from "../machine.js";
import { pageOf, type Results } from "./markdown.js";
import { drawPlot } from "./plot.js";
import { runAll } from "./run-all.js";

const usage = `Usage: npm run bench:report -- [options]
  --only NAME,NAME   measure only these again, and take the others from the last report
  --from-last        measure nothing: write the page again from docs/benchmarks/results.json`;

const root = findRepoRoot();
const folder = join(root, "docs", "benchmarks");
const resultsFile = join(folder, "results.json");

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: "string" }, "from-last": { type: "boolean", default: false } },
  });
  const results = values["from-last"] ? last() : await measure(values.only?.split(","));
  write(results);
  console.log(`wrote docs/benchmarks.md: ${results.sections.length} benchmarks, ${results.minutes} minutes`);
  if (results.unmeasured.length > 0) process.exitCode = 1;
}

async function measure(only: readonly string[] | undefined): Promise<Results> {
  const all = Object.keys(benches);
  const unknown = only?.find((name) => !all.includes(name));
  if (unknown !== undefined)
    throw new Error(`--only: no benchmark "${unknown}"; there are ${all.join(", ")}`);
  const origin = { date: new Date().toISOString().slice(0, 10), commit: commit() };
  const startMs = performance.now();
  const { sections, unmeasured } = await runAll(only ?? all, origin, console.error);
  const kept = only && existsSync(resultsFile) ? last() : undefined;
  const minutes = Number(((performance.now() - startMs) / 60_000).toFixed(1));
  const known = [...sections, ...(kept?.sections.filter(({ name }) => !only?.includes(name)) ?? [])];
  return {
    minutes: kept?.minutes ?? minutes,
    machine: await machine(),
    sections: all.flatMap((name) => known.filter((section) => section.name === name)),
    unmeasured,
  };
}

function last(): Results {
  return JSON.parse(readFileSync(resultsFile, "utf8")) as Results;
}

function write(results: Results): void {
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(folder)) if (file.endsWith(".svg")) rmSync(join(folder, file));
  for (const plot of results.sections.flatMap(({ plots }) => plots)) {
    writeFileSync(join(folder, `${plot.name}.svg`), drawPlot(plot));
  }
  writeFileSync(resultsFile, `${JSON.stringify(results, undefined, 1)}\n`);
  writeFileSync(join(root, "docs", "benchmarks.md"), pageOf(results, "benchmarks"));
}

/** A package that was unpacked has no history. */
function commit(): string {
  try {
    const git = (...args: string[]): string =>
      execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
    const isChanged = git("status", "--porcelain", "--", ".", ":!docs") !== "";
    return git("rev-parse", "--short=7", "HEAD") + (isChanged ? "-dirty" : "");
  } catch {
    return "an unknown commit";
  }
}

main().catch((error: Error & { code?: string }) => {
  const isUsage = error.code?.startsWith("ERR_PARSE_ARGS");
  console.error(isUsage ? `${error.message}\n\n${usage}` : `bench:report: ${error.message}`);
  process.exitCode = 1;
});
