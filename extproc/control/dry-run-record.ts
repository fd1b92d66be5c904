import type { Gateway } from "../sync/contract.js";
import type { Course, Opening } from "./dry-run-schemas.js";
import type { Fleet } from "./fleet.js";
import type { History, TransitionEntry } from "./history.js";

const SECOND_MS = 1000;
/** Longer lists help nobody. */
export const MAX_OPENINGS = 100;

/** What a replay takes of one backend: nine numbers a second, as filter/dry-run.ts names them. */
export const FIGURES = 9;

export interface BackendRecord {
  readonly name: string;
  readonly figures: Uint32Array;
  readonly recorded: { readonly seconds: number; readonly calls: number; readonly failures: number };
  readonly actual: Course;
}

/** What is known of one backend from `fromMs` to `toMs`, both since the epoch. */
export function recordOf(
  fleet: Fleet,
  history: History,
  name: string,
  fromMs: number,
  toMs: number,
): BackendRecord {
  const count = Math.ceil((toMs - fromMs) / SECOND_MS);
  const entries = history
    .list()
    .filter((entry) => entry.transition !== undefined)
    .filter((entry) => entry.backend === name);
  const figures = new Uint32Array(count * FIGURES);
  const recorded = { seconds: 0, calls: 0, failures: 0 };
  for (const second of fleet.secondsOf(name)) {
    const index = Math.floor((second.atMs - fromMs) / SECOND_MS);
    if (index < 0 || index >= count) continue;
    recorded.seconds++;
    recorded.calls += second.calls;
    recorded.failures += second.failures;
    const { calls, failures, weightedFailures, backpressure, outOfMemory, firstTokens, slowCalls } = second;
    figures.set(
      [calls, failures, weightedFailures, backpressure, outOfMemory, 0, firstTokens, slowCalls],
      index * FIGURES,
    );
  }
  markFatal(figures, entries, fromMs);
  markWell(figures, entries, fromMs);
  return { name, figures, recorded, actual: courseOf(entries, fromMs, toMs, liveProcesses(fleet)) };
}

/** Only the transition tells that a failure was of a dead engine. */
function markFatal(figures: Uint32Array, entries: readonly TransitionEntry[], fromMs: number): void {
  for (const { atMs, transition } of entries) {
    if (transition.cause !== "ENGINE_FATAL") continue;
    const at = Math.floor((atMs - fromMs) / SECOND_MS) * FIGURES;
    const failures = figures[at + 1];
    if (failures === undefined) continue;
    // The report of that second may have come to lie beside it.
    const slot = failures > 0 || at < FIGURES ? at : at - FIGURES;
    if ((figures[slot + 1] ?? 0) > 0) figures[slot + 5] = 1;
  }
}

/** By a second's calls; where there are none, by what gateways knew, and else as before. */
function markWell(figures: Uint32Array, entries: readonly TransitionEntry[], fromMs: number): void {
  let isWell = true;
  let next = 0;
  const sick = new Set<string>();
  for (let index = 0; index * FIGURES < figures.length; index++) {
    const endMs = fromMs + (index + 1) * SECOND_MS;
    for (let entry = entries[next]; entry !== undefined && entry.atMs < endMs; entry = entries[++next]) {
      const { to, stage } = entry.transition;
      const key = keyOf(entry.gateway);
      if (to === "OPEN") sick.add(key);
      else if (to === "CLOSED" || stage > 0) {
        sick.delete(key);
        isWell = true;
      }
    }
    const at = index * FIGURES;
    const calls = figures[at] ?? 0;
    const failures = figures[at + 1] ?? 0;
    if (calls > 0) isWell = failures < calls && failures * 2 <= calls;
    else if (sick.size > 0) isWell = false;
    figures[at + 8] = isWell ? 1 : 0;
  }
}

function keyOf({ process, policy }: Gateway): string {
  return `${process} ${policy}`;
}

function liveProcesses(fleet: Fleet): ReadonlySet<string> {
  return new Set(fleet.list().map(({ process }) => process));
}

/** What happened: all gateways' openings, and how long the backend was not CLOSED on any. */
function courseOf(
  entries: readonly TransitionEntry[],
  fromMs: number,
  toMs: number,
  live: ReadonlySet<string>,
): Course {
  const openings: Opening[] = [];
  const spans: [number, number][] = [];
  const since = new Map<string, { fromMs: number; untilMs: number }>();
  for (const { atMs, gateway, transition } of entries) {
    const key = keyOf(gateway);
    // What came before the first entry that we have is told by that entry.
    const begun = since.get(key) ?? (transition.from === "CLOSED" ? undefined : { fromMs, untilMs: atMs });
    if (transition.to === "CLOSED") {
      if (begun !== undefined) spans.push([begun.fromMs, atMs]);
      since.delete(key);
    } else {
      // A process that ended without closing tells nothing behind its last wait.
      const untilMs = live.has(gateway.process) ? toMs : atMs + transition.waitMs;
      since.set(key, { fromMs: begun?.fromMs ?? atMs, untilMs });
    }
    if (transition.to === "OPEN" && atMs >= fromMs && transition.cause !== "PROBE_ABANDONED") {
      const { cause, openings: row, waitMs } = transition;
      openings.push({ at: new Date(atMs).toISOString(), cause, openings: row, waitMs, node: gateway.node });
    }
  }
  for (const { fromMs: begin, untilMs } of since.values()) spans.push([begin, untilMs]);
  const notClosedMs = Math.round(unionMs(spans, fromMs, toMs));
  return { openings: openings.slice(0, MAX_OPENINGS), openingCount: openings.length, notClosedMs };
}

function unionMs(spans: readonly [number, number][], fromMs: number, toMs: number): number {
  let total = 0;
  let reachedMs = fromMs;
  for (const [begin, end] of [...spans].sort(([a], [b]) => a - b)) {
    const from = Math.max(begin, reachedMs);
    const to = Math.min(end, toMs);
    if (to <= from) continue;
    total += to - from;
    reachedMs = to;
  }
  return total;
}
