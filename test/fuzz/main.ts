import { performance } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { readArguments, UsageError, usage } from "./arguments.js";
import { buildParsers } from "./build-parsers.js";
import { MAX_BYTES, type RunResult } from "./run-target.js";
import { spell } from "./support/minimise.js";
import { targetNames } from "./targets.js";
import { HEAD_BYTES, type ThreadJob } from "./thread.js";

/** A case that takes so long never ends. */
const HANG_MS = 30_000;
const AT_ONCE = 2;
const COLUMNS = ["target", "cases", "seconds", "a second", "taken", "kinds", "slowest ms", "grown kB"];

async function runOne(name: string, settings: Settings): Promise<RunResult | string> {
  const shared = new SharedArrayBuffer(HEAD_BYTES + Math.max(MAX_BYTES, 65_536));
  const { cases, seed, limitMs } = settings;
  const workerData: ThreadJob = { name, settings: { cases, seed }, limitMs, shared };
  const worker = new Worker(new URL("./thread.js", import.meta.url), { workerData });
  const head = new Int32Array(shared, 0, 2);
  return new Promise((resolve) => {
    let seen = { number: -1, atMs: performance.now() };
    const watch = setInterval(() => {
      const number = head[0] ?? 0;
      if (number !== seen.number) seen = { number, atMs: performance.now() };
      else if (performance.now() - seen.atMs > HANG_MS) {
        const length = head[1] ?? 0;
        const bytes = Buffer.from(new Uint8Array(shared, HEAD_BYTES, Math.min(length, MAX_BYTES)));
        const told = `${length} bytes, which begin with ${spell(bytes)}`;
        end(`a case takes over ${HANG_MS / 1000} s\n  ${told}\n  run's seed ${seed}`);
      }
    }, 1000);
    const end = (result: RunResult | string) => {
      clearInterval(watch);
      void worker.terminate();
      resolve(result);
    };
    worker.once("message", end);
    worker.once("error", (cause) => end(`the thread ended: ${cause.stack ?? cause.message}`));
    worker.once("exit", (code) => end(`the thread ended with ${code}`));
  });
}

interface Settings {
  readonly only: readonly string[];
  readonly cases: number;
  readonly seed: number;
  readonly limitMs: number;
}

async function main(): Promise<void> {
  const settings = readArguments(process.argv.slice(2), targetNames);
  if (settings === undefined) return console.log(usage);
  buildParsers();
  console.log(`seed ${settings.seed}, ${settings.cases} cases a target`);
  console.log(rowOf(COLUMNS));
  const waiting = [...settings.only];
  let failed = 0;
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const startMs = performance.now();
      const result = await runOne(name, settings);
      const seconds = (performance.now() - startMs) / 1000;
      if (!report(name, result, seconds)) failed++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  console.log(`${settings.only.length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

function report(name: string, result: RunResult | string, seconds: number): boolean {
  if (typeof result === "string") {
    console.log(`${name}: ${result}`);
    return false;
  }
  const { cases, taken, kinds, slowestMs, grownBytes, failures } = result;
  const share = `${((taken / cases) * 100).toFixed(0)} %`;
  const figures = [cases, seconds.toFixed(1), Math.round(cases / seconds), share, kinds];
  console.log(rowOf([name, ...figures, slowestMs.toFixed(1), Math.round(grownBytes / 1024)].map(String)));
  for (const failure of failures) console.log(`${name}: ${failure}`);
  return failures.length === 0;
}

function rowOf([name = "", ...cells]: readonly string[]): string {
  return [name.padEnd(22), ...cells.map((cell) => cell.padStart(10))].join(" ");
}

try {
  await main();
} catch (cause) {
  if (!(cause instanceof UsageError)) throw cause;
  console.error(`${cause.message}\n\n${usage}`);
  process.exitCode = 2;
}
