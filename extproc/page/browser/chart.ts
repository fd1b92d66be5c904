import uPlot from "uplot";
import { startOf, stretchesOf, type Trend } from "./trend.js";

/*
 * Requests a second, stacked by what became of them; failures as a line; below, the state as a strip whose height tells it as well as
 * its colour.
 */

/** In the axis' font size. */
const STRIP_HEIGHT: Readonly<Record<string, number>> = { CLOSED: 0.18, HALF_OPEN: 0.45, OPEN: 0.85 };
const STRIP_GAP = 1.3;

/** What the time axis names, by the minutes that it spans. */
function marksOf(minutes: number): number[] {
  if (minutes > 8) return [-14, -10, -5, -1];
  return minutes > 3 ? [-6, -4, -2] : [-2, -1];
}

export interface Chart {
  update(trend: Trend): void;
  destroy(): void;
}

/** @param onHover is told the point under the pointer; undefined when it has left */
export function createChart(
  place: HTMLElement,
  first: Trend,
  onHover: (index: number | undefined) => void,
): Chart {
  let trend = first;
  const plot = new uPlot(
    optionsOf(place, () => trend, onHover),
    dataOf(first),
    place,
  );
  const observer = new ResizeObserver(() => {
    plot.setSize({ width: place.clientWidth, height: place.clientHeight });
  });
  observer.observe(place);
  return {
    update(next) {
      trend = next;
      plot.setData(dataOf(next));
    },
    destroy() {
      observer.disconnect();
      plot.destroy();
    },
  };
}

function dataOf(trend: Trend): uPlot.AlignedData {
  const { points, periodMs } = trend;
  const perSecond = (value: number) => (value * 1000) / periodMs;
  return [
    points.map((_, index) => (startOf(trend, index) - trend.endMs) / 60_000),
    points.map(({ permitted, refused }) => perSecond(permitted + refused)),
    points.map(({ permitted }) => perSecond(permitted)),
    points.map(({ permitted, diverted }) => perSecond(Math.max(0, permitted - diverted))),
    // A line along the bottom would look like a fault.
    points.map(({ failure }) => (failure === 0 ? null : perSecond(failure))),
  ];
}

function optionsOf(
  place: HTMLElement,
  trend: () => Trend,
  onHover: (index: number | undefined) => void,
): uPlot.Options {
  const style = getComputedStyle(place);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  // uPlot scales whole pixels only.
  const fontPx = Math.round(Number.parseFloat(style.fontSize));
  const axis = {
    stroke: colour("--quiet"),
    font: `${fontPx}px system-ui, sans-serif`,
    ticks: { show: false },
    grid: { stroke: colour("--line"), width: 1 },
  };
  const area = (name: string): uPlot.Series => ({
    stroke: colour(name),
    fill: colour(`${name}-fill`),
    width: 1,
    points: { show: false },
  });
  return {
    width: place.clientWidth,
    height: place.clientHeight,
    padding: [fontPx * 0.7, 6, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: (_, min) => [min, 0] },
      y: { range: (_, __, max) => [0, Math.max(max * 1.1, 0.2)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        gap: STRIP_GAP * fontPx,
        size: (STRIP_GAP + 1.3) * fontPx,
        splits: (_, __, min) => marksOf(-min).filter((minutes) => minutes >= min * 0.97),
        values: (_, splits) => splits.map((minutes) => `${-minutes} min`),
      },
      {
        ...axis,
        size: fontPx * 2.6,
        gap: 4,
        space: fontPx * 2,
        values: (_, splits) => splits.map((rate) => `${rate}/s`),
      },
    ],
    series: [
      {},
      area("--refused"),
      area("--diverted"),
      area("--permitted"),
      { stroke: colour("--failed"), width: 2, points: { show: false } },
    ],
    hooks: {
      draw: [(plot) => drawStrip(plot, trend(), colour, fontPx * devicePixelRatio)],
      setCursor: [({ cursor: { idx, left = -1 } }) => onHover(left < 0 || idx == null ? undefined : idx)],
    },
  };
}

function drawStrip(
  { ctx, bbox, valToPos }: uPlot,
  trend: Trend,
  colour: (name: string) => string,
  unit: number,
): void {
  const base = bbox.top + bbox.height + (STRIP_GAP - 0.2) * unit;
  const edge = (index: number) => valToPos((startOf(trend, index) - trend.endMs) / 60_000, "x", true);
  ctx.save();
  for (const { state, start, end } of stretchesOf(trend.points)) {
    if (state === undefined) continue;
    const height = (STRIP_HEIGHT[state] ?? 0) * unit;
    ctx.fillStyle = colour(`--strip-${state.toLowerCase().replace("_", "-")}`);
    ctx.fillRect(edge(start), base - height, edge(end) - edge(start), height);
  }
  ctx.restore();
}
