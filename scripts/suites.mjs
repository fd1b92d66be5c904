// What `npm test` runs, in this order, and how each suite's own report is counted.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { filesBelow } from "./stamp.mjs";

/**
 * @typedef {{ passed: number, failed: number, why?: string }} Count
 * @typedef {{ name: string, args: string[], limitMs: number, count: (output: string, exitCode: number) => Count }} Suite
 */

const minuteMs = 60_000;

/** Units may share the machine; suites that measure times on a real Envoy run one file at a time. */
const nodeSuites = [
  { name: "architecture", sources: ["test/architecture.test.ts"], serial: false },
  { name: "support", sources: ["test/support"], serial: false },
  { name: "extproc", sources: ["test/extproc"], serial: false },
  { name: "wasm", sources: ["test/wasm"], serial: false },
  { name: "matrix", sources: ["test/versions"], serial: false },
  { name: "issues", sources: ["test/issues"], serial: true },
  { name: "e2e", sources: ["test/e2e"], serial: true },
];

/** Commands that judge themselves. */
const commands = [
  { name: "faults", main: "test/faults/main.js", args: [], count: countCommand },
  { name: "chaos", main: "test/chaos/main.js", args: [], count: countCommand },
  { name: "versions", main: "test/versions/main.js", args: [], count: countCommand },
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
      name: "filter",
      args: [bin("@as-pect", "cli", "bin", "asp.js"), "--config", "as-pect.config.js", "--summary"],
      limitMs: 5 * minuteMs,
      count: countAsPect,
    },
    ...nodeSuites.map(({ name, sources, serial }) => nodeSuite(root, name, sources, serial)),
    ...commands.map(({ name, main, args, count }) => ({
      name,
      args: ["--enable-source-maps", join(root, "build", "js", main), ...args],
      limitMs: commandLimitMs,
      count,
    })),
  ];
}

/**
 * Only files whose source still exists: the build folder may hold what was deleted since.
 * @param {string} root
 * @param {string} name
 * @param {string[]} sources
 * @param {boolean} serial
 * @returns {Suite}
 */
function nodeSuite(root, name, sources, serial) {
  const compiled = sources
    .flatMap((source) => filesBelow(join(root, source), [".test.ts"]))
    .map((file) => join(root, "build", "js", file.slice(root.length).replace(/\.ts$/, ".js")));
  // A file that never ends is named and counted, and the others still are.
  const fileLimitMs = (serial ? 10 : 2) * minuteMs;
  const args = ["--enable-source-maps", "--test", "--test-reporter=tap", `--test-timeout=${fileLimitMs}`];
  if (serial) args.push("--test-concurrency=1");
  const limitMs = (serial ? 12 : 5) * minuteMs;
  const missing = compiled.filter((file) => !existsSync(file));
  if (compiled.length === 0 || missing.length > 0) {
    const why =
      missing.length > 0 ? `not compiled: ${missing.join(", ")}` : `no test in ${sources.join(", ")}`;
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
