import type { Settings } from "../policy.js";
import type { Trace, TracedArrival, TracedTransition } from "./trace.js";

/** What was let through before a backend opened may reach it so much later. */
const onTheWayMs = 500;

/** What the backend saw that no gateway may do to it: requests while Open, a second probe, too many canaries. */
export function faultsOfArrivals({ transitions, arrivals }: Trace, settings: Settings): string[] {
  const faults: string[] = [];
  for (const [index, transition] of transitions.entries()) {
    const untilMs = transitions[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
    const during = arrivals.filter(({ fromMs }) => fromMs >= transition.atMs && fromMs < untilMs);
    const context = `generation ${transition.generation}, ${transition.cause}`;
    faults.push(...faultsIn(transition, during, settings).map((fault) => `${context}: ${fault}`));
  }
  return faults;
}

function faultsIn(
  { to, stage, atMs }: TracedTransition,
  during: readonly TracedArrival[],
  settings: Settings,
): string[] {
  if (to === "CLOSED") return [];
  const callers = during.filter(({ isProbe, fromMs }) => !isProbe && fromMs > atMs + onTheWayMs);
  const probes = during.filter(({ isProbe }) => isProbe);
  if (to === "OPEN")
    return callers.length + probes.length > 0
      ? [`${callers.length + probes.length} requests while Open`]
      : [];
  if (stage === 0) {
    const isRight = probes.length === 1 && callers.length === 0;
    return isRight ? [] : [`${probes.length} probes and ${callers.length} callers while probing`];
  }
  const cap = settings.stages[stage - 1]?.maxConcurrent ?? 0;
  const canaries = during.filter(({ isProbe }) => !isProbe);
  const most = mostAtOnce(canaries);
  return most > cap ? [`${most} canaries at once of ${cap}`] : [];
}

function mostAtOnce(arrivals: readonly TracedArrival[]): number {
  const atOnce = arrivals.map(
    ({ fromMs }) => arrivals.filter((other) => other.fromMs <= fromMs && other.untilMs > fromMs).length,
  );
  return Math.max(0, ...atOnce);
}
