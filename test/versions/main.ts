// Runs the story on every version of Envoy that we promise, two at a time, and prints which test passed on which.
import { join } from "node:path";
import { Child } from "../support/child.js";
import { loadGetEnvoy } from "../support/get-envoy.js";
import { findRepoRoot } from "../support/repo-root.js";
import { readTap, type TapTest } from "./tap.js";

/** 1.38 is left out: its wheels are built without V8, hence without wasm. */
const versions = ["1.36.4", "1.37.0", "1.39.3", "1.40.0"];
const atOnce = 2;

interface Run {
  readonly tests: readonly TapTest[];
  /** Why there is no result, or the report of what failed. */
  readonly trouble?: string;
}

async function tell(version: string): Promise<Run> {
  // ENVOY_BIN would win over the version.
  const environment = { ...process.env, ENVOY_BIN: undefined, ENVOY_VERSION: version };
  const { envoyBinary, EnvoyUnavailableError } = await loadGetEnvoy();
  try {
    await envoyBinary(environment, { log: console.error });
  } catch (error) {
    if (error instanceof EnvoyUnavailableError) return { tests: [], trouble: error.message };
    throw error;
  }
  const cwd = findRepoRoot();
  const story = join(cwd, "build", "js", "test", "versions", "story.js");
  const args = ["--enable-source-maps", "--test-reporter=tap", story];
  const child = new Child({ name: "story", program: process.execPath, args, cwd, environment });
  const how = await child.exited;
  const lines = child.log.all;
  const tests = readTap(lines);
  return how === "exit code 0" ? { tests } : { tests, trouble: `${how}\n${lines.join("\n")}` };
}

async function tellAll(): Promise<Map<string, Run>> {
  const runs = new Map<string, Run>();
  const waiting = [...versions];
  const work = async (): Promise<void> => {
    for (let version = waiting.shift(); version; version = waiting.shift()) {
      runs.set(version, await tell(version));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return runs;
}

/** A row for each test, a column for each version. */
function table(runs: ReadonlyMap<string, Run>): string {
  const names = new Set([...runs.values()].flatMap(({ tests }) => tests.map(({ name }) => name)));
  const row = (name: string, cellOf: (version: string) => string): string => {
    return [...versions.map((version) => cellOf(version).padEnd(8)), name].join(" ");
  };
  const rows = [...names].map((name) =>
    row(name, (version) => {
      const test = runs.get(version)?.tests.find((each) => each.name === name);
      if (!test) return "-";
      return test.passed ? "ok" : "FAILED";
    }),
  );
  return [row("Envoy", (version) => version), ...rows].join("\n");
}

const startMs = performance.now();
const runs = await tellAll();
for (const version of versions) {
  const trouble = runs.get(version)?.trouble;
  if (trouble) console.error(`Envoy ${version}: ${trouble}\n`);
}
console.log(table(runs));
const bad = [...runs.values()].filter(({ tests, trouble }) => trouble !== undefined || tests.length === 0);
const all = [...runs.values()].flatMap(({ tests }) => tests);
const passed = all.filter((test) => test.passed).length;
// A version whose story could not be told at all is one failure more.
const failed = all.length - passed + bad.filter(({ tests }) => tests.every((test) => test.passed)).length;
console.log(`told in ${((performance.now() - startMs) / 1000).toFixed(0)} s`);
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
