import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../../../test/support/repo-root.js";

const installTimeoutMs = 120_000;

/** What people would use instead has packages of its own, which nothing else needs. */
export const peersFolder = join(findRepoRoot(), "bench", "peers", "gateways");

/** Installs the peers' packages unless they are there. Returns why they can't be had. */
export async function installPeers(): Promise<string | undefined> {
  if (existsSync(join(peersFolder, "node_modules", ".package-lock.json"))) return undefined;
  // The npm that runs us, where one does: another one may not be on the PATH.
  const npm = process.env.npm_execpath;
  const [program, before] = npm ? [process.execPath, [npm]] : ["npm", []];
  try {
    execFileSync(program, [...before, "ci", "--prefix", peersFolder], {
      // As a script of ours npm tells its child of our own folder by this variable.
      env: { ...process.env, npm_config_local_prefix: peersFolder },
      encoding: "utf8",
      stdio: ["ignore", "ignore", "pipe"],
      timeout: installTimeoutMs,
    });
    return undefined;
  } catch (error) {
    const why = (error as { stderr?: string }).stderr || (error as Error).message;
    const told = why.split("\n").find((line) => /npm error|ERR!/.test(line)) ?? why.trim().split("\n")[0];
    return `its packages could not be installed (${told?.trim()})`;
  }
}
