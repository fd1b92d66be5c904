import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pageOf, type Results } from "../../bench/report/markdown.js";
import { drawPlot } from "../../bench/report/plot.js";
import { findRepoRoot } from "../support/repo-root.js";

const docs = join(findRepoRoot(), "docs");
const read = (...path: string[]): string => readFileSync(join(docs, ...path), "utf8");
const results = JSON.parse(read("benchmarks", "results.json")) as Results;

test("the page of benchmarks is what was measured, and nothing else", () => {
  assert.equal(read("benchmarks.md"), pageOf(results, "benchmarks"));
});

test("its pictures are drawn from the same figures, and none is left from an earlier report", () => {
  const plots = results.sections.flatMap(({ plots }) => plots);
  const pictures = readdirSync(join(docs, "benchmarks")).filter((file) => file.endsWith(".svg"));
  assert.deepEqual(pictures.sort(), plots.map(({ name }) => `${name}.svg`).sort());
  for (const plot of plots) assert.equal(read("benchmarks", `${plot.name}.svg`), drawPlot(plot), plot.name);
});
