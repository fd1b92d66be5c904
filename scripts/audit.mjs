#!/usr/bin/env node
// Audits what is installed from elsewhere: pinned, hashed, from the registries, without scripts, under known licences, and without a
// serious advisory where the registry tells of them. Ends with one line, `N passed, N failed`. Node built-ins only.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { advisoryFaults, askRegistry } from "./audit/advisories.mjs";
import { npmFaults, unusedAllowances } from "./audit/npm-lock.mjs";
import { cargoFaults, goFaults } from "./audit/other-locks.mjs";
import { filesBelow } from "./stamp.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const shownFaults = 20;
let passed = 0;
let failed = 0;

/**
 * @param {string} what
 * @param {string[]} faults
 */
function report(what, faults) {
  if (faults.length === 0) passed++;
  else failed++;
  console.log(`${faults.length === 0 ? "ok    " : "FAILED"} ${what}`);
  for (const fault of faults.slice(0, shownFaults)) console.log(`       ${fault}`);
  if (faults.length > shownFaults) console.log(`       and ${faults.length - shownFaults} more`);
}

/** @param {string} path */
const json = (path) => JSON.parse(readFileSync(path, "utf8"));

/**
 * @param {string} folder
 * @param {string} name
 */
const textOf = (folder, name) => {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
};

/** Every folder with packages of its own; the root's first. */
const manifests = ["package.json", "go.mod", "Cargo.toml"].flatMap((name) => [
  ...(existsSync(join(root, name)) ? [join(root, name)] : []),
  ...["bench", "demo", "test", "docker"].flatMap((folder) => filesBelow(join(root, folder), [name])),
]);

/** @type {any[]} */
const locks = [];
/** @type {string[]} */
const lockedFolders = [];
for (const path of manifests) {
  const folder = dirname(path);
  const where = relative(root, folder) || ".";
  if (basename(path) === "go.mod") {
    report(`${where}: go.mod and go.sum`, goFaults(readFileSync(path, "utf8"), textOf(folder, "go.sum")));
  } else if (basename(path) === "Cargo.toml") {
    report(
      `${where}: Cargo.toml and Cargo.lock`,
      cargoFaults(
        readFileSync(path, "utf8"),
        textOf(folder, "Cargo.lock") ?? textOf(dirname(folder), "Cargo.lock"),
      ),
    );
  } else {
    const manifest = json(path);
    const lock = textOf(folder, "package-lock.json");
    if (lock === undefined) {
      report(`${where}: package.json`, ["there is no package-lock.json beside it"]);
      continue;
    }
    locks.push(JSON.parse(lock));
    lockedFolders.push(folder);
    const faults = npmFaults(manifest, locks.at(-1), { isShipped: folder === root });
    report(
      `${where}: package.json and package-lock.json, ${Object.keys(locks.at(-1).packages).length - 1} packages`,
      faults,
    );
  }
}
report("no line of the allow-lists is unused", unusedAllowances(locks));
const talkative = lockedFolders.filter(
  (folder) => !/^ignore-scripts=true$/m.test(textOf(folder, ".npmrc") ?? ""),
);
report(
  "no package runs a script when it is installed",
  talkative.map((folder) => `${relative(root, folder) || "."}/.npmrc must say ignore-scripts=true`),
);

for (const folder of lockedFolders) {
  const where = relative(root, folder) || ".";
  const asked = askRegistry(folder);
  if (!("answer" in asked)) {
    console.log(
      `unknown ${where}: the registry tells of no advisories here (${asked.silent}); this is no pass`,
    );
  } else if (folder === root) {
    report(`${where}: no serious advisory is known`, advisoryFaults(asked.answer, new Date()));
  } else {
    // What a benchmark is compared with is none of ours, and comes as its maker ships it.
    for (const fault of advisoryFaults(asked.answer, new Date(), {}))
      console.log(`told   ${where}: ${fault}`);
  }
}

console.log(`${passed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
