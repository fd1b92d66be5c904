import type { Arrival } from "../fleet/arrivals.js";
import type { CallRecord } from "../load/caller.js";
import { type Span, spanAt } from "./phases.js";
import { isOpening, type Transition } from "./transitions.js";

/** Everything the story measured, before any judgement. Times are monotonic ms. */
export interface Evidence {
  readonly records: readonly CallRecord[];
  /** Name of the backend that gets the fault. */
  readonly primary: string;
  readonly primaryArrivals: readonly Arrival[];
  /** Of the primary only. */
  readonly transitions: readonly Transition[];
  readonly spans: readonly Span[];
  /** 0 = the fault never began or ended. */
  readonly faultStartMs: number;
  readonly faultEndMs: number;
}

/** The figures of `--json`, as far as they come from the evidence alone. Times in ms, -1 = it never happened. */
export interface Summary {
  readonly requests: number;
  readonly ok: number;
  readonly bareFailures: number;
  readonly brokenStreams: number;
  readonly jsonErrors: number;
  readonly opened: number;
  readonly closed: number;
  readonly servedByFallback: number;
  readonly canaries: number;
  readonly canaryMaxPromptTokens: number;
  readonly maxCanariesAtOnce: number;
  readonly probes: number;
  readonly maxProbesPerOpening: number;
  readonly primaryHitsWhileOpen: number;
  readonly timeToOpenMs: number;
  readonly timeToRecoverMs: number;
  /** Complete answers by the backend that gave them. */
  readonly perTier: Readonly<Record<string, number>>;
}

/** A request that started before the opening, or this long after it, may have been admitted before it. */
const OPENING_GRACE_MS = 50;
/** Such a request still has to arrive soon: on a busy machine transit takes tens of ms, never this long. */
const TRANSIT_LIMIT_MS = 1000;

export function summarize(evidence: Evidence): Summary {
  const { records, primary, primaryArrivals, transitions, spans } = evidence;
  const count = (verdict: CallRecord["verdict"]): number =>
    records.filter((record) => record.verdict === verdict).length;
  const served = records.filter((record) => record.verdict === "ok");
  const userArrivals = primaryArrivals.filter((arrival) => !arrival.probe);
  const probes = primaryArrivals.filter((arrival) => arrival.probe);
  const canaries = userArrivals.filter((arrival) => spanAt(spans, arrival.atMs).phase === "ramp");
  const struckMs = Math.floor(evidence.faultStartMs);
  const opening = transitions.find((transition) => isOpening(transition) && transition.atMs >= struckMs);
  const lastClosing = transitions.findLast((transition) => transition.to === "CLOSED");
  return {
    requests: records.length,
    ok: served.length,
    bareFailures: count("bareFailure"),
    brokenStreams: count("brokenStream"),
    jsonErrors: count("jsonError"),
    opened: transitions.filter(isOpening).length,
    closed: transitions.filter((transition) => transition.to === "CLOSED").length,
    servedByFallback: served.filter((record) => record.backend !== primary && record.backend !== "").length,
    canaries: canaries.length,
    canaryMaxPromptTokens: Math.max(0, ...canaries.map((canary) => canary.promptTokens)),
    maxCanariesAtOnce: mostAtOnce(canaries),
    probes: probes.length,
    maxProbesPerOpening: mostPerOpening(spans, probes),
    primaryHitsWhileOpen: leaksOf(spans, userArrivals, records).length,
    timeToOpenMs: difference(evidence.faultStartMs, opening?.atMs),
    timeToRecoverMs: difference(evidence.faultEndMs, lastClosing?.atMs),
    perTier: tally(served.map((record) => record.backend || "unnamed")),
  };
}

/**
 * User requests at the primary while nobody but the probe may be there. The start is the caller's own, since an arrival is
 * stamped late when the machine is busy; but only for a caller's first attempt, so a retry on an open backend is a leak.
 */
export function leaksOf(
  spans: readonly Span[],
  userArrivals: readonly Arrival[],
  records: readonly Pick<CallRecord, "id" | "startMs">[],
): Arrival[] {
  const starts = new Map(records.map(({ id, startMs }) => [id, startMs]));
  const seen = new Set<string>();
  return userArrivals.filter((arrival) => {
    const startMs = seen.has(arrival.user) ? arrival.atMs : (starts.get(arrival.user) ?? arrival.atMs);
    seen.add(arrival.user);
    const span = spanAt(spans, arrival.atMs);
    if (span.phase === "probing") return true;
    if (span.phase !== "open") return false;
    return startMs - span.startMs >= OPENING_GRACE_MS || arrival.atMs - span.startMs >= TRANSIT_LIMIT_MS;
  });
}

/** The peak of requests that were at the backend at the same time. */
export function mostAtOnce(arrivals: readonly Arrival[]): number {
  const runs = (other: Arrival, atMs: number): boolean =>
    other.atMs <= atMs && (other.endMs === 0 || other.endMs > atMs);
  return Math.max(0, ...arrivals.map(({ atMs }) => arrivals.filter((other) => runs(other, atMs)).length));
}

/**
 * A probe belongs to the opening whose wait was over last: a failed one may be over within the millisecond in which it
 * was sent, and transitions are told in whole ones.
 */
function mostPerOpening(spans: readonly Span[], probes: readonly Arrival[]): number {
  const waitsOver = spans.filter(({ phase }) => phase === "probing");
  const openings = probes.map(
    ({ atMs }) => waitsOver.findLast(({ startMs }) => atMs >= startMs)?.opening ?? 0,
  );
  return Math.max(0, ...Object.values(tally(openings.map(String))));
}

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function difference(startMs: number, endMs: number | undefined): number {
  return startMs === 0 || endMs === undefined || endMs < Math.floor(startMs)
    ? -1
    : Math.max(0, Math.round(endMs - startMs));
}
