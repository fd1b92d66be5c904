// A plot as SVG text, drawn by ECharts without a browser.
import * as echarts from "echarts";
import type { Plot, Point } from "./section.js";

const width = 760;
const height = 380;
/** Told apart in grey and by the colour-blind (Okabe and Ito). */
const colours = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#000000", "#8a8a8a"];

export function drawPlot(plot: Plot): string {
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
  try {
    chart.setOption(optionOf(plot));
    return `${withSteadyNames(chart.renderToSVGString())}\n`;
  } finally {
    chart.dispose();
  }
}

function optionOf(plot: Plot): echarts.EChartsOption {
  const categories = categoriesOf(plot);
  return {
    animation: false,
    backgroundColor: "#ffffff",
    color: colours,
    textStyle: { fontFamily: "sans-serif" },
    title: { text: plot.title, left: "center", textStyle: { fontSize: 15 } },
    legend: { bottom: 0, type: "plain", show: plot.series.length > 1 },
    grid: { left: 70, right: 25, top: 45, bottom: plot.series.length > 1 ? 85 : 60 },
    xAxis: {
      type: categories ? "category" : "value",
      ...(categories && { data: categories }),
      name: plot.x,
      nameLocation: "middle",
      nameGap: 28,
      axisLabel: { interval: 0, hideOverlap: false },
    },
    yAxis: { type: "value", name: plot.y, nameLocation: "middle", nameGap: 48, min: 0 },
    series: plot.series.flatMap((series, at) => [
      plot.kind === "bars" ? barsOf(series, categories ?? []) : lineOf(series, at, categories),
      ...(plot.kind === "lines" ? whiskersOf(series, at, categories) : []),
    ]),
  };
}

function categoriesOf(plot: Plot): string[] | undefined {
  const all = plot.series.flatMap(({ points }) => points.map(({ x }) => x));
  if (plot.kind === "lines" && all.every((x) => typeof x === "number")) return undefined;
  return [...new Set(all.map(String))];
}

function barsOf(series: Plot["series"][number], categories: readonly string[]): echarts.SeriesOption {
  const byName = new Map(series.points.map((point) => [String(point.x), point.y]));
  return {
    type: "bar",
    name: series.name,
    data: categories.map((name) => byName.get(name) ?? "-"),
    barMaxWidth: 48,
    label: { show: true, position: "top", fontSize: 10 },
  };
}

function lineOf(
  series: Plot["series"][number],
  at: number,
  categories?: readonly string[],
): echarts.SeriesOption {
  return {
    type: "line",
    name: series.name,
    color: colourOf(at),
    symbolSize: 6,
    showSymbol: series.points.length <= 30,
    data: series.points.map((point) => [place(point, categories), point.y]),
  };
}

/** From the least to the most of each point, as a line of its own without a name in the legend. */
function whiskersOf(
  series: Plot["series"][number],
  at: number,
  categories?: readonly string[],
): echarts.SeriesOption[] {
  return series.points.flatMap((point) => {
    if (!point.spread) return [];
    const x = place(point, categories);
    return {
      type: "line" as const,
      silent: true,
      symbol: "none",
      data: point.spread.map((y) => [x, y]),
      lineStyle: { width: 1, opacity: 0.6, color: colourOf(at) },
    };
  });
}

/** Whiskers are series too and would take colours from the palette. */
function colourOf(at: number): string {
  return colours[at % colours.length] ?? "#000000";
}

function place({ x }: Point, categories?: readonly string[]): string | number {
  return categories ? String(x) : x;
}

/** ECharts numbers what it draws over the life of the process: the same plot shall be the same text. */
function withSteadyNames(svg: string): string {
  const names = new Map<string, string>();
  return svg.replace(/zr\d+-c\w*-?\d+|zr\d+-[a-z]+-?\d*/g, (name) => {
    const steady = names.get(name) ?? `p${names.size}`;
    names.set(name, steady);
    return steady;
  });
}
