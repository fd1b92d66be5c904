#!/usr/bin/env node
// Builds and packs. Plain `npm pack` does not build: .npmrc lets no package run a script, and so not our own prepack either.
// What follows is npm's: `npm run pack -- --pack-destination FOLDER`.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runningNpm } from "./running-npm.mjs";

const repoRoot = join(dirname(fileURLToPath(import.meta.url)), "..");
const limitMs = 900_000;
const maxOutputBytes = 1 << 24;

/** Without one of these, an installed package does not do what docs/install.md says. */
const needed = [
  ...["", "-gate", "-meter", "-dry-run"].map((position) => `build/llm-breaker${position}.wasm`),
  "build/SHA256SUMS",
  "build/js/extproc/main.js",
  "build/js/extproc/cli/main.js",
  "build/js/demo/main.js",
  "build/page/index.html",
  "build/types/extproc/control/schemas.d.ts",
];

/**
 * @param {readonly string[]} files paths within the package
 * @returns {string[]}
 */
export function missingFrom(files) {
  return needed.filter((file) => !files.includes(file));
}

/** @param {string[]} words */
function pack(words) {
  const [program = "", ...before] = runningNpm();
  const args = [...before, "pack", "--ignore-scripts=false", "--json", "--silent", ...words];
  const { status, stdout, error } = spawnSync(program, args, {
    ...{ cwd: repoRoot, encoding: "utf8", timeout: limitMs, maxBuffer: maxOutputBytes },
    // What the build says.
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`npm pack failed: ${error?.message ?? stdout}`);
  return JSON.parse(stdout.slice(stdout.indexOf("[")))[0];
}

function main() {
  const words = process.argv.slice(2);
  const report = pack(words.filter((word) => word !== "--json"));
  const missing = missingFrom(report.files.map((/** @type {{ path: string }} */ { path }) => path));
  if (missing.length > 0) {
    const at = words.indexOf("--pack-destination");
    rmSync(join(repoRoot, at < 0 ? "" : (words[at + 1] ?? ""), report.filename), { force: true });
    throw new Error(`the package has no ${missing.join(", no ")}; it was removed`);
  }
  const megabytes = (report.size / 1e6).toFixed(0);
  console.log(words.includes("--json") ? JSON.stringify([report]) : `${report.filename}, ${megabytes} MB`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    main();
  } catch (error) {
    console.error(`pack: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
