#!/usr/bin/env node
// Brings a fresh clone to where the demo and the tests can run, and does nothing when it is there already.
// Runs before `npm ci`, so it may use Node's built-ins only.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EnvoyUnavailableError, envoyBinary } from "../envoy/get-envoy.mjs";
import { writeChecksums } from "./checksums.mjs";
import { withLock } from "./lock.mjs";
import { runningNpm } from "./running-npm.mjs";
import { hashOf, isStamped, stamp } from "./stamp.mjs";

const repoRoot = join(dirname(fileURLToPath(import.meta.url)), "..");
const filterModules = [
  { entry: "filter/index.ts", target: "release", file: "llm-breaker.wasm" },
  { entry: "filter/index-gate.ts", target: "gate", file: "llm-breaker-gate.wasm" },
  { entry: "filter/index-meter.ts", target: "meter", file: "llm-breaker-meter.wasm" },
  { entry: "filter/index-dry-run.ts", target: "dry-run", file: "llm-breaker-dry-run.wasm" },
  { entry: "test/filter/records-module.ts", target: "records", file: "test/records.wasm" },
];
const stepTimeoutMs = 900_000;

class SetupError extends Error {
  name = "SetupError";
}

/**
 * Whether node_modules holds what package-lock.json asks for, by the copy of the lock that npm leaves there
 * when (and only when) an installation has succeeded.
 */
function packagesAreInstalled() {
  const installedFile = join(repoRoot, "node_modules", ".package-lock.json");
  if (!existsSync(installedFile)) return false;
  const wanted = JSON.parse(readFileSync(join(repoRoot, "package-lock.json"), "utf8")).packages;
  const installed = JSON.parse(readFileSync(installedFile, "utf8")).packages;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const there = installed[path];
    return there
      ? there.version === entry.version && there.integrity === entry.integrity
      : entry.optional === true;
  });
}

function installPackages() {
  if (packagesAreInstalled()) return false;
  const [program = "", ...words] = runningNpm();
  const ci = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const remedy = "The packages could not be installed. Is a package registry reachable?";
  runOrFail(program, [...words, ...ci], remedy);
  return true;
}

function buildFilter() {
  const inputs = ["filter", "test/filter/records-module.ts", "asconfig.json", "package-lock.json"];
  const outputs = [...filterModules.map(({ file }) => file), "SHA256SUMS"];
  const isBuilt = outputs.every((file) => existsSync(join(repoRoot, "build", file)));
  return buildWhenChanged("filter", inputs, [".ts"], isBuilt, () => {
    const compiler = join("node_modules", "assemblyscript", "bin", "asc.js");
    for (const { entry, target } of filterModules) {
      const words = [compiler, entry, "--target", target];
      runOrFail(process.execPath, words, "The filter does not compile.");
    }
    writeChecksums();
  });
}

function buildTypeScript() {
  const inputs = ["extproc", "demo", "bench", "envoy", "test", "tsconfig.json", "package-lock.json"];
  const compiled = existsSync(join(repoRoot, "build", "js"));
  return buildWhenChanged("typescript", inputs, [".ts", ".mts", ".mjs"], compiled, () => {
    const compiler = join("node_modules", "typescript", "bin", "tsc");
    // What was compiled from a source that is gone would go into the package.
    rmSync(join(repoRoot, "build", "js"), { recursive: true, force: true });
    runOrFail(process.execPath, [compiler, "-p", "tsconfig.json"], "The TypeScript sources do not compile.");
    // Where npx has linked the command once, it never looks at the file's mode again.
    chmodSync(join(repoRoot, "build", "js", "extproc", "cli", "main.js"), 0o755);
    // Compiled code imports it by its relative path.
    const script = join("envoy", "get-envoy.mjs");
    mkdirSync(join(repoRoot, "build", "js", "envoy"), { recursive: true });
    copyFileSync(join(repoRoot, script), join(repoRoot, "build", "js", script));
  });
}

function buildPage() {
  const inputs = ["extproc/page/browser", "scripts/build-page.mjs", "package-lock.json"];
  const isBuilt = existsSync(join(repoRoot, "build", "page", "index.html"));
  return buildWhenChanged("page", inputs, [".ts", ".tsx", ".css", ".html"], isBuilt, () => {
    const script = join("scripts", "build-page.mjs");
    runOrFail(process.execPath, [script], "The live page can't be bundled.");
  });
}

/**
 * @param {string} name
 * @param {string[]} inputs
 * @param {string[]} extensions
 * @param {boolean} outputExists
 * @param {() => void} build
 */
function buildWhenChanged(name, inputs, extensions, outputExists, build) {
  const stampFile = join(repoRoot, "build", ".stamps", name);
  const hash = hashOf(repoRoot, inputs, extensions);
  if (outputExists && isStamped(stampFile, hash)) return false;
  build();
  stamp(stampFile, hash);
  return true;
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {string} meaning what a failure means, for the reader of the one message
 */
function runOrFail(program, args, meaning) {
  const done = spawnSync(program, args, { cwd: repoRoot, encoding: "utf8", timeout: stepTimeoutMs });
  if (done.status === 0) return;
  const output = `${done.stdout ?? ""}${done.stderr ?? ""}${done.error?.message ?? ""}`;
  // asc prints whole source lines, which may be long.
  const shown = output
    .trim()
    .split("\n")
    .slice(-40)
    .map((line) => line.slice(0, 200));
  throw new SetupError(`${meaning} "${program} ${args.join(" ")}" failed:\n${shown.join("\n")}`);
}

async function fetchEnvoy() {
  let fetched = false;
  await envoyBinary(process.env, {
    log: () => {
      fetched = true;
    },
  });
  return fetched;
}

/** @type {[string, () => boolean | Promise<boolean>][]} */
const steps = [
  ["packages", installPackages],
  ["filter", buildFilter],
  ["typescript", buildTypeScript],
  ["page", buildPage],
  ["envoy", fetchEnvoy],
];

async function setUp() {
  for (const [name, step] of steps) {
    const startMs = performance.now();
    const changed = await step();
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    say(`${name.padEnd(11)}${(changed ? "done" : "up to date").padEnd(11)}${seconds} s`);
  }
}

/**
 * Not to stdout: that is the JSON of the command that follows.
 * @param {string} line
 */
function say(line) {
  console.error(`setup: ${line}`);
}

try {
  if (Number(process.versions.node.split(".")[0]) < 20) {
    throw new SetupError(`Node 20 or newer is needed, this is ${process.versions.node}.`);
  }
  // Two at once would each remove what the other one has just installed or built.
  await withLock(join(repoRoot, "build", ".setup.lock"), say, setUp);
} catch (error) {
  const expected = error instanceof SetupError || error instanceof EnvoyUnavailableError;
  console.error(expected ? `setup: ${error.message}` : error);
  process.exitCode = 1;
}
