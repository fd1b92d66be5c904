import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../support/repo-root.js";

const ROOT = findRepoRoot();
const FOLDER = join(ROOT, "build", "fuzz");
const MODULE = join(FOLDER, "parsers.wasm");
const STAMP = join(FOLDER, "parsers.hash");

/** The filter's parsers as a module of their own, compiled when they have changed; unlike the shipped ones it checks every index. */
export function buildParsers(): void {
  const hash = hashOfSources();
  if (existsSync(MODULE) && existsSync(STAMP) && readFileSync(STAMP, "utf8") === hash) return;
  mkdirSync(FOLDER, { recursive: true });
  const fresh = `${MODULE}.${process.pid}`;
  const compiler = join(ROOT, "node_modules", "assemblyscript", "bin", "asc.js");
  const words = ["test/fuzz/filter/parsers.ts", "--config", "test/fuzz/filter/asconfig.json", "-o", fresh];
  execFileSync(process.execPath, [compiler, ...words], { cwd: ROOT, stdio: "pipe" });
  renameSync(fresh, MODULE);
  writeFileSync(STAMP, hash);
}

export function parsersModule(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(MODULE));
}

function hashOfSources(): string {
  const hash = createHash("sha256").update(readFileSync(join(ROOT, "package-lock.json")));
  for (const folder of ["filter", "test/fuzz/filter"]) {
    const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
    for (const name of names.filter((each) => each.endsWith(".ts")).sort())
      hash.update(name).update(readFileSync(join(ROOT, folder, name)));
  }
  return hash.digest("hex");
}
