import assert from "node:assert/strict";
import { test } from "node:test";
import { pageOf, type ReportedSection, type Results } from "../../bench/report/markdown.js";
import { drawPlot } from "../../bench/report/plot.js";
import { atMost, missed, row } from "../../bench/report/rows.js";
import type { Plot } from "../../bench/report/section.js";

const bars: Plot = {
  name: "hits",
  title: "Requests that hit the sick backend",
  kind: "bars",
  x: "scenario",
  y: "requests",
  series: [
    {
      name: "ours",
      points: [
        { x: "hang", y: 8 },
        { x: "flapping", y: 12 },
      ],
    },
    { name: "theirs", points: [{ x: "hang", y: 80 }] },
  ],
};

const lines: Plot = {
  name: "streams",
  title: "CPU against live streams",
  kind: "lines",
  x: "live streams",
  y: "µs",
  series: [
    {
      name: "full",
      points: [
        { x: 0, y: 100, spread: [80, 110] },
        { x: 10_000, y: 104 },
      ],
    },
  ],
};

const figure = { median: 59, spread: [35, 92] as const };
const rows = [
  row("a tiny request", "µs added", figure, {
    beside: { what: "without | us", figure },
    target: atMost(figure, 30),
  }),
  row("a large one", "µs added", figure, { target: atMost(figure, 59) }),
];

const section: ReportedSection = {
  name: "chain",
  title: "The filter chain",
  intro: "CPU inside Envoy.",
  seconds: 12,
  date: "2026-01-02",
  commit: "abc1234",
  rows,
  tables: [{ caption: "Scores", columns: ["racer", "bare"], rows: [["ours", "0"]] }],
  plots: [bars],
  behind: missed(rows),
};

const results: Results = {
  minutes: 3.5,
  machine: { cpu: "some", cores: 2 },
  sections: [section],
  unmeasured: [{ name: "race", why: "no such program" }],
};

test("the page tells each figure with its spread, what it stands beside, and its target", () => {
  const page = pageOf(results, "benchmarks");
  assert.match(
    page,
    /\| a tiny request \| 59 \(35–92\) µs added \| without \\\| us: 59 \(35–92\) \| at most 30, \*\*missed\*\* \|/,
  );
  assert.match(page, /\| a large one \| .* \| at most 59 \|/);
  assert.match(page, /!\[Requests that hit the sick backend\]\(benchmarks\/hits\.svg\)/);
  assert.match(page, /\[The filter chain\]\(#the-filter-chain\)/);
});

test("what is missed or could not be measured stands at the top", () => {
  const [, behind = ""] = pageOf(results, "benchmarks").split(/^## /m);
  assert.match(behind, /The filter chain: a tiny request: 59 µs added, not at most 30\./);
  assert.match(behind, /race could not be measured: no such program/);
  const clean = pageOf({ ...results, sections: [{ ...section, behind: [] }], unmeasured: [] }, "benchmarks");
  assert.match(clean, /Nowhere, in this run\./);
});

test("the same plot is the same picture, whatever was drawn before", () => {
  const first = drawPlot(bars);
  drawPlot(lines);
  assert.equal(drawPlot(bars), first);
});

test("a picture holds its title, axes, names and values, and asks nothing of the network", () => {
  const picture = drawPlot(bars);
  for (const text of [bars.title, "scenario", "requests", "ours", "theirs", "hang", "flapping", "80"]) {
    assert.ok(picture.includes(`>${text}</text>`), text);
  }
  assert.doesNotMatch(picture, /href|url\((?!#)|<script/);
});

test("a line's points have whiskers from the least to the most", () => {
  const whiskers = drawPlot(lines).match(/<path [^>]*stroke-opacity="0.6"/g) ?? [];
  assert.equal(whiskers.length, 1);
  assert.doesNotMatch(drawPlot(bars), /stroke-opacity="0.6"/);
});
