import type { Fleet } from "./fleet.js";
import { canaryCap } from "./gateway-config.js";
import { mostAtOnce, type Seen } from "./gpu.js";
import type { Trial } from "./scenario.js";
import type { Transition } from "./transitions.js";

/** A request that was let through before its gateway opened may still be on its way. */
const onItsWayMs = 500;

/** What holds whatever happens: callers are served, and the sick backend gets silence, one probe, few canaries. */
export function lawChecks(fleet: Fleet, trial: Trial, isSplit: boolean): void {
  callersAreServed(fleet, trial);
  const seen = fleet.gpu.seenSince(trial.startMs);
  const transitions = fleet.transitionsSince(0);
  const strays = seen.filter((each) => isStray(each, transitions));
  trial.note("requests while open", strays.length);
  const told = strays.map(({ gateway, atMs }) => {
    const { cause, atMs: openMs } = lastBefore(atMs, gateway, transitions) ?? { cause: "", atMs };
    return `${gateway} ${Math.round(atMs - openMs)} ms after ${cause}`;
  });
  trial.check("no request while open", strays.length === 0, told.join(", ") || "none");
  if (isSplit) return;
  trial.atMost("probes at once", mostAtOnce(seen.filter(({ isProbe }) => isProbe)), 1);
  trial.atMost("canaries at once", mostAtOnce(seen.filter((each) => isCanary(each, transitions))), canaryCap);
}

function callersAreServed(fleet: Fleet, trial: Trial): void {
  const calls = fleet.callsSince(trial.startMs);
  const unserved = calls.filter(({ verdict }) => verdict !== "ok");
  const details = unserved.slice(0, 3).map(({ verdict, detail }) => `${verdict}: ${detail}`);
  trial.note("calls", calls.length);
  const passed = calls.length > 0 && unserved.length === 0;
  trial.check("every caller has a whole answer", passed, details.join("; ") || `${calls.length} calls`);
}

export function isCanary(seen: Seen, transitions: readonly Transition[]): boolean {
  const state = lastBefore(seen.atMs, seen.gateway, transitions);
  return !seen.isProbe && state?.to === "HALF_OPEN";
}

function isStray(seen: Seen, transitions: readonly Transition[]): boolean {
  const state = lastBefore(seen.atMs, seen.gateway, transitions);
  return !seen.isProbe && state?.to === "OPEN" && seen.atMs - state.atMs > onItsWayMs;
}

function lastBefore(
  atMs: number,
  gateway: number,
  transitions: readonly Transition[],
): Transition | undefined {
  return transitions.findLast((each) => each.gateway === gateway && each.atMs <= atMs);
}
