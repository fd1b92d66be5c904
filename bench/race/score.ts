import type { Lap } from "./lap.js";
import type { CallerRecord } from "./patient-caller.js";
import type { Scenario, Seconds, Span } from "./scenario.js";

/** How one racer did in one scenario. Undefined: it did not come to that, or nobody was there to measure it on. */
export interface Score {
  readonly racer: string;
  readonly callers: number;
  /** Callers who got their whole answer. */
  readonly served: number;
  /** All others: told an error in whatever form, cut off, or out of patience. */
  readonly bareFailures: number;
  /** Of streams that were asked for during the fault and served whole. */
  readonly ttftP50Ms: number | undefined;
  readonly ttftP99Ms: number | undefined;
  /** Requests that reached a sick node during the fault, tries and probes included. */
  readonly sickHits: number;
  /** Those of them by which no caller was served whole: what a sick backend is to be spared. */
  readonly wastedHits: number;
  /** The most requests at once on a sick node while it recovers. */
  readonly peakRecovering: number;
  /** From the fault's start until the sick nodes get less than a tenth of their usual share, for a second. */
  readonly secondsToOpen: Seconds | undefined;
  /** From the fault's end until the primary serves nine tenths of all callers again, and goes on to. */
  readonly secondsToFull: Seconds | undefined;
  /** Requests to the paid fallback, in percent of the callers. */
  readonly fallbackPercent: number;
}

const openShare = 0.1;
const openWindow: Seconds = 1;
const fullShare = 0.9;
const fullWindow: Seconds = 2;
const stepSeconds: Seconds = 0.1;

/** When something was, on the race's own clock. */
export interface Moment {
  readonly at: Seconds;
}

export interface Moments {
  readonly callers: readonly (Moment & { readonly caller: CallerRecord })[];
  /** What reached the sick nodes. */
  readonly sick: readonly (Moment & { readonly concurrency: number; readonly isWasted: boolean })[];
  /** Callers whose whole answer came from the primary. */
  readonly byPrimary: ReadonlySet<string>;
  readonly fallbackRequests: number;
}

export function score(scenario: Scenario, lap: Lap): Score {
  const moments = momentsOf(scenario, lap);
  const { callers, sick } = moments;
  const hits = sick.filter(({ at }) => within(scenario.fault, at));
  const served = callers.filter(({ caller }) => caller.served).length;
  const waits = callers
    .filter(({ at, caller }) => within(scenario.fault, at) && caller.served && caller.streamed)
    .map(({ caller }) => caller.firstTokenMs - caller.startMs);
  return {
    racer: lap.racer,
    callers: callers.length,
    served,
    bareFailures: callers.length - served,
    ttftP50Ms: quantile(waits, 0.5),
    ttftP99Ms: quantile(waits, 0.99),
    sickHits: hits.length,
    wastedHits: hits.filter(({ isWasted }) => isWasted).length,
    peakRecovering: Math.max(
      0,
      ...sick.filter(({ at }) => within(scenario.recovering, at)).map(({ concurrency }) => concurrency),
    ),
    secondsToOpen: secondsToOpen(scenario, moments),
    secondsToFull: secondsToFull(scenario, moments),
    fallbackPercent: Number(((100 * moments.fallbackRequests) / callers.length).toFixed(1)),
  };
}

const within = ([from, to]: Span, at: Seconds): boolean => at >= from && at < to;

/** What came before the start is no part of the race. */
export function momentsOf({ sick }: Scenario, { startMs, callers, seen }: Lap): Moments {
  const at = (ms: number): Seconds => (ms - startMs) / 1000;
  const inRace = ({ atMs }: { readonly atMs: number }): boolean => atMs >= startMs;
  const served = new Set(callers.filter((caller) => caller.served).map(({ id }) => id));
  const complete = seen.nodes.flat().filter(({ outcome }) => outcome === "complete");
  return {
    callers: callers.map((caller) => ({ at: at(caller.startMs), caller })),
    sick: sick
      .flatMap((node) => seen.nodes[node] ?? [])
      .filter(inRace)
      .map(({ atMs, concurrency, outcome, user }) => ({
        at: at(atMs),
        concurrency,
        isWasted: outcome !== "complete" || !served.has(user),
      })),
    byPrimary: new Set(complete.map(({ user }) => user)),
    fallbackRequests: seen.fallback.filter(inRace).length,
  };
}

function secondsToOpen({ fault, nodes, sick }: Scenario, moments: Moments): Seconds | undefined {
  const [from, to] = fault;
  const usual = sick.length / nodes;
  return firstMoment(from, to - openWindow, (at) => {
    const window: Span = [at, at + openWindow];
    const offered = moments.callers.filter((each) => within(window, each.at)).length * usual;
    return moments.sick.filter((each) => within(window, each.at)).length < openShare * offered;
  });
}

function secondsToFull({ fault, seconds }: Scenario, moments: Moments): Seconds | undefined {
  const isFull = (at: Seconds): boolean => {
    const callers = moments.callers.filter((each) => within([at, at + fullWindow], each.at));
    const back = callers.filter(({ caller }) => caller.served && moments.byPrimary.has(caller.id));
    return back.length >= fullShare * callers.length;
  };
  const last = seconds - fullWindow;
  // From the end backwards: full service that does not last is none.
  let since: Seconds | undefined;
  for (let at = last; at >= fault[1] && isFull(at); at -= stepSeconds) since = at;
  return since === undefined ? undefined : round(since - fault[1] < stepSeconds ? 0 : since - fault[1]);
}

function firstMoment(from: Seconds, to: Seconds, holds: (at: Seconds) => boolean): Seconds | undefined {
  for (let at = from; at <= to; at += stepSeconds) if (holds(at)) return round(at - from);
  return undefined;
}

const round = (value: number): number => Number(value.toFixed(1));

function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return value === undefined ? undefined : Math.round(value);
}
