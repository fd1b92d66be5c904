import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../../demo/clock.js";
import { waitFor } from "../../support/wait-for.js";
import type { Fleet } from "../fleet.js";
import type { Trial } from "../scenario.js";
import type { Transition } from "../transitions.js";

const outageLimitMs = 15_000;
const quietMs = 1_500;

/** Of the gateway itself; the others are the group's. */
const ownCauses = new Set(["CONSECUTIVE_FAILURES", "FAILURE_RATE"]);

export function ownOpenings(fleet: Fleet, sinceMs: number): Transition[] {
  const openings = fleet.transitionsSince(sinceMs).filter(({ cause }) => ownCauses.has(cause));
  return openings.filter(({ gateway }, at) => openings.findIndex((each) => each.gateway === gateway) === at);
}

/**
 * The backend fails for these, a majority at most; resolves once each has opened by itself, with when the last one did. With
 * more of them the group may open the last ones before they have seen enough.
 */
export async function failFor(fleet: Fleet, numbers: readonly number[]): Promise<number> {
  const sinceMs = monotonicMs();
  fleet.gpu.failFor(numbers);
  const openings = () => ownOpenings(fleet, sinceMs).filter(({ gateway }) => numbers.includes(gateway));
  await waitFor(() => openings().length === numbers.length, outageLimitMs, `openings of ${numbers}`);
  return openings().at(-1)?.atMs ?? Number.NaN;
}

/** The backend fails for all; resolves once all have opened, by themselves or since the group has. */
export async function failForAll(fleet: Fleet): Promise<void> {
  const sinceMs = monotonicMs();
  fleet.gpu.failFor(fleet.numbers);
  const hasOpened = (number: number): boolean =>
    fleet.transitionsSince(sinceMs, [number]).some(({ to }) => to === "OPEN");
  await waitFor(() => fleet.numbers.every(hasOpened), outageLimitMs, `openings of ${fleet.numbers}`);
}

/**
 * The backend works again after the first probe has failed: the group's way back, in which each opening has one verdict.
 * Gives how long it took from there.
 */
export async function recover(fleet: Fleet, trial: Trial): Promise<void> {
  const { startMs } = trial;
  const verdicts = () =>
    fleet.transitionsSince(startMs).filter(({ cause }) => /^PROBE_(FAILED|SUCCEEDED)$/.test(cause));
  await waitFor(() => verdicts().length > 0, outageLimitMs, "the first probe's verdict");
  fleet.gpu.work();
  const workingMs = monotonicMs();
  await fleet.whenAll("CLOSED");
  trial.note("closed everywhere after ms", monotonicMs() - workingMs);
  await sleep(quietMs);
  const openings = Math.max(...fleet.transitionsSince(startMs).map((each) => each.openings));
  const probes = fleet.gpu.seenSince(startMs).filter(({ isProbe }) => isProbe);
  trial.note("openings", openings);
  trial.note("probes", probes.length);
  const counts = `${openings} openings, ${verdicts().length} verdicts, ${probes.length} probes`;
  const isOneEach = verdicts().length === openings && probes.length === openings;
  trial.check("one verdict an opening", isOneEach, counts);
  trial.check("nothing opens again", fleet.areAll("CLOSED"), lastOf(fleet.transitionsSince(workingMs)));
}

export function lastOf(transitions: readonly Transition[]): string {
  const told = transitions.map(({ gateway, to, cause }) => `${gateway} ${to} ${cause}`);
  return told.slice(-8).join(", ") || "no transition";
}
