import type { BackendView, TrendsView } from "../../control/schemas.js";
import { count, counted, duration } from "./format.js";

export type Points = TrendsView["backends"][number]["points"];
type State = BackendView["state"];

export interface Trend {
  readonly periodMs: number;
  readonly endMs: number;
  readonly points: Points;
}

export interface Totals {
  readonly permitted: number;
  readonly diverted: number;
  readonly refused: number;
  readonly failure: number;
}

/** A minute's line in the table beside the chart. */
export interface Minute extends Totals {
  readonly atMs: number;
  /** The worst of it; undefined: nobody reported. */
  readonly state: State | undefined;
}

const LEAST_SHOWN_MS = 120_000;
const NOTHING: Points[number] = { permitted: 0, refused: 0, diverted: 0, success: 0, failure: 0 };

const WORSE: readonly (State | undefined)[] = [undefined, "CLOSED", "HALF_OPEN", "OPEN"];

export function trendOf(trends: TrendsView | undefined, name: string): Trend | undefined {
  const found = trends?.backends.find((backend) => backend.name === name);
  if (trends === undefined || found === undefined || found.points.length === 0) return undefined;
  return toldPoints({ periodMs: trends.periodMs, endMs: trends.endMs, points: found.points });
}

/** Only what is new, once something is known: before the first gateway has told anything, all is asked for again. */
export function trendsPath(known: TrendsView | undefined): string {
  return known === undefined || known.backends.length === 0
    ? "/v1/trends"
    : `/v1/trends?after=${known.endMs}`;
}

/** What is known, and what was told since: an answer with `after` has the new points alone. */
export function mergeTrends(known: TrendsView | undefined, told: TrendsView): TrendsView {
  const length = Math.max(0, ...(known?.backends ?? []).map(({ points }) => points.length));
  if (known === undefined || length === 0 || known.periodMs !== told.periodMs) return told;
  const backends = told.backends.map(({ name, points }) => {
    if (points.length >= length) return { name, points };
    const before = known.backends.find((backend) => backend.name === name)?.points ?? [];
    const padding = Array.from(
      { length: Math.max(0, length - before.length - points.length) },
      () => NOTHING,
    );
    return { name, points: [...padding, ...before, ...points].slice(-length) };
  });
  return { ...told, backends };
}

/** Points from the first on that has something to tell, and two minutes at least: a new fleet is not all silence. */
export function toldPoints({ points, periodMs, endMs }: Trend): Trend {
  const first = points.findIndex(({ state, permitted, refused, diverted }) => {
    return state !== undefined || permitted + refused + diverted > 0;
  });
  const least = Math.ceil(LEAST_SHOWN_MS / periodMs);
  const start = Math.max(0, Math.min(first < 0 ? points.length : first, points.length - least));
  return { points: points.slice(start), periodMs, endMs };
}

export function totalsOf(points: Points): Totals {
  const sum = (key: keyof Totals) => points.reduce((total, point) => total + point[key], 0);
  return {
    permitted: sum("permitted"),
    diverted: sum("diverted"),
    refused: sum("refused"),
    failure: sum("failure"),
  };
}

/** When the period of a point began; milliseconds since 1970. */
export function startOf({ points, endMs, periodMs }: Trend, index: number): number {
  return endMs - (points.length - index) * periodMs;
}

/** Points in a row that have one state; `end` is the first behind them. */
export function stretchesOf(points: Points): { state: State | undefined; start: number; end: number }[] {
  const stretches: { state: State | undefined; start: number; end: number }[] = [];
  points.forEach(({ state }, index) => {
    const last = stretches.at(-1);
    if (last !== undefined && last.state === state) last.end = index + 1;
    else stretches.push({ state, start: index, end: index + 1 });
  });
  return stretches;
}

/** The newest first. */
export function minutesOf(trend: Trend): Minute[] {
  const each = Math.max(1, Math.round(60_000 / trend.periodMs));
  const minutes: Minute[] = [];
  for (let end = trend.points.length; end > 0; end -= each) {
    const start = Math.max(0, end - each);
    const points = trend.points.slice(start, end);
    const state = WORSE[Math.max(...points.map((point) => WORSE.indexOf(point.state)))];
    minutes.push({ ...totalsOf(points), atMs: startOf(trend, start), state });
  }
  return minutes;
}

/** What the chart shows, for who can't see it. */
export function describeTrend({ points, periodMs }: Trend): string {
  const { permitted, diverted, refused, failure } = totalsOf(points);
  const lasted = (state: State) => points.filter((point) => point.state === state).length * periodMs;
  const open = lasted("OPEN");
  const halfOpen = lasted("HALF_OPEN");
  const parts = [
    `${counted(permitted, "request")} let through`,
    ...(diverted > 0 ? [`${count(diverted)} of them came since an earlier tier did not serve`] : []),
    `${count(failure)} failed`,
    ...(refused > 0 ? [`${count(refused)} passed over, for the next tier`] : []),
    ...(open > 0 ? [`Open for ${duration(open)}`] : []),
    ...(halfOpen > 0 ? [`Half-open for ${duration(halfOpen)}`] : []),
  ];
  return `Last ${duration(points.length * periodMs)}: ${parts.join(", ")}.`;
}
