import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "./repo-root.js";

/** redis-server of Debian 12 (a link to a program of redis-tools), and the libraries that a bare Debian lacks. */
const PACKAGES = ["redis-server", "redis-tools", "libjemalloc2", "liblzf1", "libatomic1"];

export interface RedisBinary {
  readonly program: string;
  /** For LD_LIBRARY_PATH; empty for one that is installed. */
  readonly libraries: string;
}

/**
 * The installed redis-server; else Debian's, taken apart into the cache, which needs no root.
 * @throws with the remedy when there is neither
 */
export function redisBinary(): RedisBinary {
  if (spawnSync("redis-server", ["--version"]).status === 0) {
    return { program: "redis-server", libraries: "" };
  }
  const folder = join(findRepoRoot(), ".cache", "redis");
  if (!existsSync(folder)) download(folder);
  const architecture =
    readdirSync(join(folder, "usr", "lib")).find((name) => name.endsWith("-linux-gnu")) ?? "";
  return {
    program: join(folder, "usr", "bin", "redis-server"),
    libraries: join(folder, "usr", "lib", architecture),
  };
}

function download(folder: string): void {
  mkdirSync(join(folder, ".."), { recursive: true });
  const partial = mkdtempSync(`${folder}-`);
  try {
    execFileSync("apt-get", ["download", ...PACKAGES], { cwd: partial, stdio: "pipe" });
    for (const name of readdirSync(partial)) execFileSync("dpkg", ["-x", join(partial, name), partial]);
    renameSync(partial, folder);
  } catch (cause) {
    rmSync(partial, { recursive: true, force: true });
    // Another test file was faster.
    if (existsSync(folder)) return;
    throw new Error("The tests need Redis: apt-get install redis-server", { cause });
  }
}
