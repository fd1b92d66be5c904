#!/usr/bin/env node
// Runs every suite and ends with one line: `N passed, N failed`. `--only name,name` runs some of them.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runNode } from "./run.mjs";
import { allSuites } from "./suites.mjs";

const repoRoot = join(dirname(fileURLToPath(import.meta.url)), "..");
const shownLines = 150;

const onlyAt = process.argv.indexOf("--only");
const only = onlyAt < 0 ? undefined : (process.argv[onlyAt + 1] ?? "").split(",");
const known = allSuites(repoRoot);
const words = process.argv.slice(2);
if (words.length > 0 && (onlyAt !== 2 || words.length !== 2)) {
  // A misspelt --only would run everything, for half an hour.
  console.error(`npm test [-- --only name,name], of ${known.map(({ name }) => name).join(", ")}`);
  process.exit(1);
}
const unknown = only?.filter((name) => !known.some((suite) => suite.name === name)) ?? [];
if (unknown.length > 0) {
  console.error(
    `--only: no suite "${unknown.join(", ")}"; there are ${known.map(({ name }) => name).join(", ")}`,
  );
  process.exit(1);
}

let passed = 0;
let failed = 0;
for (const suite of known.filter(({ name }) => !only || only.includes(name))) {
  const startMs = performance.now();
  const { args, limitMs } = suite;
  const ran = args.length > 0 ? await runNode(args, { cwd: repoRoot, limitMs }) : undefined;
  const count = suite.count(ran?.output ?? "", ran?.exitCode ?? 1);
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  const reason = ran?.timedOut ? `ended after ${limitMs / 1000} s` : count.why;
  if (count.failed > 0 && ran) console.log(excerptOf(ran.output));
  const why = reason ? ` (${reason})` : "";
  console.log(
    `${suite.name.padEnd(13)} ${count.passed} passed, ${count.failed} failed in ${seconds} s${why}`,
  );
  passed += count.passed;
  failed += count.failed;
}
if (failed > 0) process.exitCode = 1;
console.log(`${passed} passed, ${failed} failed`);

/**
 * What failed, with its details; passed tests of a TAP report are left out.
 * @param {string} output
 */
function excerptOf(output) {
  const lines = output.split("\n").map((line) => line.slice(0, 300));
  if (!lines.includes("TAP version 13")) return lines.slice(-shownLines).join("\n");
  let shows = true;
  const kept = lines.filter((line) => {
    if (/^\s*(not )?ok \d+/.test(line)) shows = line.trimStart().startsWith("not ok");
    return shows && !/^\s*# Subtest/.test(line);
  });
  return kept.slice(0, shownLines).join("\n");
}
