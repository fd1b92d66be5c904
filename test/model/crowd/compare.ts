import { settings } from "../policy.js";
import type { Snapshot } from "../record/snapshot.js";
import { livePermits, type Reference } from "../reference/state.js";
import { advance, totalOf } from "../reference/window.js";
import { liveAt } from "./invariants.js";

type Facts = Readonly<Record<string, number | string>>;

/** Where a record is not what the model says; undefined when it is. */
export function differenceOf(expected: Reference, actual: Snapshot): string | undefined {
  const [earliest, latest] = expected.openUntilMs;
  if (actual.openUntilMs < Math.floor(earliest) || actual.openUntilMs > latest)
    return `openUntilMs ${actual.openUntilMs}, expected ${earliest} to ${latest}`;
  return firstDifference(factsOfSnapshot(actual), factsOfReference(expected));
}

/** Whether nothing but time has passed: then nothing has to be written. */
export function isSame(from: Reference, to: Reference): boolean {
  const passed = { ...from, clockMs: to.clockMs, window: to.window };
  if (firstDifference(factsOfReference(passed), factsOfReference(to)) !== undefined) return false;
  return from.openUntilMs.join() === to.openUntilMs.join() && !isFiled(from, to);
}

function isFiled(from: Reference, to: Reference): boolean {
  if (from.window === to.window) return false;
  const advanced = totalOf(advance(from.window, to.clockMs, settings.windowSeconds));
  return JSON.stringify(advanced) !== JSON.stringify(totalOf(to.window));
}

function firstDifference(actual: Facts, expected: Facts): string | undefined {
  const key = Object.keys(expected).find((each) => actual[each] !== expected[each]);
  return key && `${key} ${actual[key]}, expected ${expected[key]}`;
}

function factsOfSnapshot(record: Snapshot): Facts {
  const { totals } = record;
  return {
    clockMs: record.clockMs,
    state: record.state,
    stage: record.stage,
    generation: record.generation,
    sinceMs: record.stateSinceMs,
    openings: record.openings,
    cause: record.lastCause,
    streak: record.consecutiveFailures,
    successes: record.stageSuccesses,
    track: record.track,
    probeOwner: record.probeOwner,
    probeLeaseUntilMs: record.probeLeaseUntilMs,
    permits: permitText(liveAt(record, record.clockMs)),
    calls: totals.calls,
    failures: totals.failures,
    backpressure: totals.backpressure,
    outOfMemory: totals.outOfMemory,
    firstTokens: totals.firstTokens,
    slowCalls: totals.slowCalls,
  };
}

function factsOfReference(reference: Reference): Facts {
  return {
    clockMs: reference.clockMs,
    state: reference.state,
    stage: reference.stage,
    generation: reference.generation,
    sinceMs: reference.sinceMs,
    openings: reference.openings,
    cause: reference.cause,
    streak: reference.streak,
    successes: reference.successes,
    track: reference.track,
    probeOwner: reference.probe.owner,
    probeLeaseUntilMs: reference.probe.leaseUntilMs,
    permits: permitText(livePermits(reference, reference.clockMs)),
    ...totalOf(reference.window),
  };
}

function permitText(permits: readonly { readonly id: number; readonly deadlineMs: number }[]): string {
  if (permits.length === 0) return "";
  return permits
    .map(({ id, deadlineMs }) => `${id} until ${deadlineMs}`)
    .sort()
    .join();
}
