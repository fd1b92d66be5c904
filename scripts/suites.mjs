// What `npm test` runs, in this order, and how each suite's own report is counted.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { filesBelow } from "./stamp.mjs";

/**
 * @typedef {{ passed: number, failed: number, why?: string }} Count
 * @typedef {{ name: string, args: string[], limitMs: number, count: (output: string, exitCode: number) => Count }} Suite
 */

const minuteMs = 60_000;

/** Files that run on the product's own ports, or judge times of a whole story: nothing may run beside them. */
const alone = /(shipped-\w+|story|outage)\.test\.ts$/;

/** `atOnce`: files side by side; 0 = as many as the machine has processors. */
const nodeSuites = [
  { name: "architecture", source: "test/architecture.test.ts", atOnce: 0 },
  { name: "support", source: "test/support", atOnce: 0 },
  { name: "extproc", source: "test/extproc", atOnce: 2 },
  { name: "check", source: "test/check", atOnce: 0 },
  { name: "wasm", source: "test/wasm", atOnce: 0 },
  // Each file takes every processor by itself.
  { name: "model", source: "test/model", atOnce: 1 },
  { name: "inventory", source: "test/fuzz", atOnce: 1 },
  { name: "pack", source: "test/pack", atOnce: 1 },
  { name: "matrix", source: "test/versions", atOnce: 0 },
  // Nearly all their time is spent waiting for timers.
  { name: "issues", source: "test/issues", atOnce: 3 },
  { name: "mesh", source: "test/mesh", atOnce: 2 },
  { name: "race", source: "test/race", atOnce: 1 },
  { name: "security", source: "test/security", atOnce: 2 },
  { name: "e2e", source: "test/e2e", atOnce: 3, takes: (/** @type {string} */ file) => !alone.test(file) },
  { name: "page", source: "test/page", atOnce: 2, takes: (/** @type {string} */ file) => !alone.test(file) },
  { name: "outage", source: "test/page", atOnce: 1, takes: (/** @type {string} */ file) => alone.test(file) },
  // One of its files runs real servers on the product's own ports, as the documents start them.
  { name: "docs", source: "test/docs", atOnce: 2 },
  { name: "shipped", source: "test/e2e", atOnce: 1, takes: (/** @type {string} */ file) => alone.test(file) },
];

/** Commands that judge themselves. */
const commands = [
  { name: "audit", file: "scripts/audit.mjs", args: [], count: countCommand },
  { name: "faults", main: "test/faults/main.js", args: [], count: countCommand },
  { name: "chaos", main: "test/chaos/main.js", args: [], count: countCommand },
  { name: "fleet", main: "test/fleet/main.js", args: [], count: countCommand },
  { name: "kills", main: "test/kills/main.js", args: ["--minutes", "0.25"], count: countCommand },
  { name: "versions", main: "test/versions/main.js", args: [], count: countCommand },
  // Two threads; the full setting is npm run fuzz.
  { name: "fuzz", main: "test/fuzz/main.js", args: ["--cases", "2000"], count: countCommand },
  {
    name: "soak",
    main: "bench/main.js",
    args: ["--only", "soak", "--requests", "200000", "--json"],
    count: countSoak,
  },
];
const commandLimitMs = 6 * minuteMs;
/** What Envoy may grow by over a soak. */
const soakLimitMb = 5;

/**
 * @param {string} root
 * @returns {Suite[]}
 */
export function allSuites(root) {
  const bin = (/** @type {string[]} */ ...path) => join(root, "node_modules", ...path);
  return [
    {
      name: "lint",
      args: [bin("@biomejs", "biome", "bin", "biome"), "check", "--colors=off", "."],
      limitMs: 2 * minuteMs,
      count: countExit,
    },
    {
      name: "types",
      args: [bin("typescript", "bin", "tsc"), "-p", "tsconfig.json", "--noEmit"],
      limitMs: 5 * minuteMs,
      count: countExit,
    },
    {
      name: "page-types",
      args: [bin("typescript", "bin", "tsc"), "-p", "extproc/page/browser", "--noEmit"],
      limitMs: 2 * minuteMs,
      count: countExit,
    },
    {
      name: "filter",
      args: [bin("@as-pect", "cli", "bin", "asp.js"), "--config", "as-pect.config.js", "--summary"],
      limitMs: 5 * minuteMs,
      count: countAsPect,
    },
    ...nodeSuites.map((suite) => nodeSuite(root, suite)),
    ...commands.map(({ name, main = "", file, args, count }) => ({
      name,
      args: ["--enable-source-maps", file ? join(root, file) : join(root, "build", "js", main), ...args],
      limitMs: commandLimitMs,
      count,
    })),
  ];
}

/**
 * Only files whose source still exists: the build folder may hold what was deleted since.
 * @param {string} root
 * @param {{ name: string, source: string, atOnce: number, takes?: (file: string) => boolean }} suite
 * @returns {Suite}
 */
function nodeSuite(root, { name, source, atOnce, takes = () => true }) {
  const compiled = filesBelow(join(root, source), [".test.ts"])
    .filter(takes)
    .map((file) => join(root, "build", "js", file.slice(root.length).replace(/\.ts$/, ".js")));
  // A file that never ends is named and counted, and the others still are.
  const fileLimitMs = (atOnce > 0 ? 10 : 2) * minuteMs;
  const args = ["--enable-source-maps", "--test", "--test-reporter=tap", `--test-timeout=${fileLimitMs}`];
  if (atOnce > 0) args.push(`--test-concurrency=${atOnce}`);
  const limitMs = (atOnce > 0 ? 12 : 5) * minuteMs;
  const missing = compiled.filter((file) => !existsSync(file));
  if (compiled.length === 0 || missing.length > 0) {
    const why = missing.length > 0 ? `not compiled: ${missing.join(", ")}` : `no test in ${source}`;
    return { name, args: [], limitMs, count: () => ({ passed: 0, failed: 1, why }) };
  }
  return { name, args: [...args, ...compiled], limitMs, count: countTap };
}

/**
 * @param {string} _output
 * @param {number} exitCode
 * @returns {Count}
 */
function countExit(_output, exitCode) {
  return exitCode === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/**
 * Counts by the command's own last word.
 * @param {string} output
 * @param {number} exitCode
 * @returns {Count}
 */
export function countCommand(output, exitCode) {
  const [, passed, failed] = [...output.matchAll(/^(\d+) passed, (\d+) failed$/gm)].at(-1) ?? [];
  if (failed === undefined) return { passed: 0, failed: 1, why: "it did not say how many passed" };
  return withReasons({ passed: Number(passed), failed: Number(failed) }, exitCode, 0);
}

/**
 * One check: memory stays flat.
 * @param {string} output
 * @param {number} exitCode
 * @returns {Count}
 */
function countSoak(output, exitCode) {
  const growth = /"rssGrowthMb":(-?[\d.]+)/.exec(output)?.[1];
  if (exitCode !== 0 || growth === undefined) return { passed: 0, failed: 1, why: `exit code ${exitCode}` };
  if (Number(growth) <= soakLimitMb) return { passed: 1, failed: 0 };
  return { passed: 0, failed: 1, why: `Envoy grew by ${growth} MB; ${soakLimitMb} are allowed` };
}

/**
 * @param {string} output
 * @param {number} exitCode
 * @returns {Count}
 */
export function countAsPect(output, exitCode) {
  const escapeCharacter = String.fromCharCode(27);
  const plain = output.replaceAll(new RegExp(`${escapeCharacter}\\[[0-9;]*m`, "g"), "");
  const [, passed, total] = /\[Tests\]:\s*(\d+) \/ (\d+)/.exec(plain) ?? [];
  if (total === undefined) return { passed: 0, failed: 1, why: "as-pect gave no summary" };
  const todo = [...plain.matchAll(/Todo: (\d+)/g)].reduce((sum, match) => sum + Number(match[1]), 0);
  return withReasons({ passed: Number(passed), failed: Number(total) - Number(passed) }, exitCode, todo);
}

/**
 * Counts by the runner's own totals. A test that was skipped, left as to-do or cancelled has not passed.
 * @param {string} output
 * @param {number} exitCode
 * @returns {Count}
 */
export function countTap(output, exitCode) {
  const total = (/** @type {string} */ key) =>
    Number(new RegExp(`^# ${key} (\\d+)$`, "m").exec(output)?.[1] ?? 0);
  const count = { passed: total("pass"), failed: total("fail") + total("cancelled") };
  return withReasons(count, exitCode, total("skipped") + total("todo"));
}

/**
 * @param {Count} count
 * @param {number} exitCode
 * @param {number} skipped
 * @returns {Count}
 */
function withReasons(count, exitCode, skipped) {
  if (skipped > 0)
    return { ...count, failed: count.failed + skipped, why: `${skipped} skipped or left as to-do` };
  if (count.passed + count.failed === 0) return { passed: 0, failed: 1, why: "no test ran" };
  if (exitCode !== 0 && count.failed === 0) return { ...count, failed: 1, why: `exit code ${exitCode}` };
  return count;
}
