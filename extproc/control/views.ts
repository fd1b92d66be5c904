import type { GroupBackendView } from "../peers/group.js";
import type { Advice, BackendReport, Gateway, Latency, Signals, Window } from "../sync/contract.js";
import { failureRate } from "../sync/failure-rate.js";
import { mostSeen } from "../sync/most-seen.js";
import type { ControlParts, Fleet } from "./fleet.js";
import type { HistoryEntry } from "./history.js";
import type { Overrides, Word } from "./overrides.js";
import type { BackendView, EntryView, GatewaysView, OverrideView, PeersView, WindowView } from "./schemas.js";

/** Hundredths of a failure. */
const WEIGHT_UNIT = 100;

interface Placed {
  readonly gateway: Gateway;
  readonly report: BackendReport;
  readonly advice: Advice;
}

/** All backends, those first that need somebody. */
export function viewBackends({ fleet, group }: ControlParts, overrides: Overrides): BackendView[] {
  const { isGrouped, backends } = group.view();
  const groups = new Map(isGrouped ? backends.map((backend) => [backend.name, backend]) : []);
  const views = [...placedBackends(fleet)].map(([name, placed]) =>
    viewBackend(name, placed, groups.get(name), overrides),
  );
  return views.sort((a, b) => severity(b) - severity(a) || (a.name < b.name ? -1 : 1));
}

export function backendNames(fleet: Fleet): string[] {
  return [...placedBackends(fleet).keys()].sort();
}

export function viewGateways(fleet: Fleet): GatewaysView {
  const gateways = fleet.list().map(({ node, process, policy, silentMs, backends }) => ({
    node,
    process,
    policy,
    silentMs: Math.round(silentMs),
    backends: backends.size,
  }));
  return { gateways };
}

/** This service first. */
export function viewPeers({ group, engine, fleet }: ControlParts): PeersView {
  const { isGrouped, member, name, members } = group.view();
  if (!isGrouped) return { engine: engine(), members: [] };
  const self = { id: member, name, isSelf: true, isLive: true, silentMs: 0 };
  const others = members.map((other) => ({ ...other, isSelf: false, silentMs: Math.round(other.silentMs) }));
  return { engine: engine(), members: [{ ...self, backends: backendNames(fleet).length }, ...others] };
}

export function viewOverride(word: Word, overrides: Overrides): OverrideView {
  const { backend, mode, who, why } = word;
  return { backend, mode, who, why, remainingMs: overrides.remainingMs(word) };
}

export function viewEntry(entry: HistoryEntry): EntryView {
  const { id, backend, word } = entry;
  const common = { id, at: new Date(entry.atMs).toISOString(), backend };
  if (entry.transition === undefined) {
    const { action, who, why, mode, forMs } = entry.word;
    const extra = { ...(mode && { mode }), ...(forMs !== undefined && { forMs: Math.round(forMs) }) };
    return { ...common, kind: "operator", action, who, why, ...extra };
  }
  const { node, process, policy } = entry.gateway;
  const { ageMs: _, ...transition } = entry.transition;
  const figures = {
    weightedFailures: transition.weightedFailures / WEIGHT_UNIT,
    failureRate: failureRate(transition.weightedFailures, transition.calls),
  };
  const reset = word && { who: word.who, why: word.why };
  return { ...common, kind: "transition", node, process, policy, ...transition, ...figures, ...reset };
}

function placedBackends(fleet: Fleet): Map<string, Placed[]> {
  const placed = new Map<string, Placed[]>();
  for (const gateway of fleet.list()) {
    for (const [name, { report, advice }] of gateway.backends) {
      const known = placed.get(name);
      const entry = { gateway, report, advice };
      if (known === undefined) placed.set(name, [entry]);
      else known.push(entry);
    }
  }
  return placed;
}

function viewBackend(
  name: string,
  placed: readonly Placed[],
  group: GroupBackendView | undefined,
  overrides: Overrides,
): BackendView {
  const reports = placed.map(({ report }) => report);
  const worst = reports.reduce((a, b) => (severity(b) > severity(a) ? b : a));
  const word = overrides.find(name);
  const signals = placed.find(({ advice }) => advice.signals !== undefined)?.advice.signals;
  const load = worstLoad(reports);
  const latency = mostSeen(reports);
  return {
    name,
    state: worst.state,
    mode: worst.mode,
    openings: Math.max(...reports.map(({ openings }) => openings)),
    waitRemainingMs: Math.max(...reports.map(({ waitRemainingMs }) => waitRemainingMs)),
    cause: worst.cause,
    window: viewWindow(reports.map(({ window }) => window)),
    ...(word && { override: viewOverride(word, overrides) }),
    ...(signals && { signals: viewSignals(signals) }),
    ...(load && { load }),
    ...(latency && { latency: viewLatency(latency) }),
    ...(group && { group: viewGroup(group) }),
    gateways: placed.map(viewPlaced),
  };
}

function viewPlaced({ gateway, report }: Placed): BackendView["gateways"][number] {
  return {
    node: gateway.node,
    process: gateway.process,
    policy: gateway.policy,
    state: report.state,
    stage: report.stage,
    mode: report.mode,
    policyMode: report.policyMode,
    cause: report.cause,
    generation: report.generation,
    openings: report.openings,
    stateAgeMs: report.stateAgeMs,
    waitRemainingMs: report.waitRemainingMs,
    isEvidence: report.isEvidence,
    canaries: report.livePermits,
    window: viewWindow([report.window]),
  };
}

/** How much a backend needs somebody: what refuses callers comes before what recovers. */
function severity({ state, mode }: Pick<BackendReport, "state" | "mode">): number {
  if (mode === "forcedOpen") return 4;
  if (mode === "forcedClosed" || mode === "disabled") return state === "CLOSED" ? 1 : 2;
  return { OPEN: 4, HALF_OPEN: 3, CLOSED: 0 }[state];
}

function viewWindow(windows: readonly Window[]): WindowView {
  const sum = (key: keyof Window) => windows.reduce((total, window) => total + window[key], 0);
  const calls = sum("calls");
  const weightedFailures = sum("weightedFailures");
  return {
    calls,
    failures: sum("failures"),
    weightedFailures: weightedFailures / WEIGHT_UNIT,
    failureRate: failureRate(weightedFailures, calls),
    backpressure: sum("backpressure"),
    outOfMemory: sum("outOfMemory"),
    firstTokens: sum("firstTokens"),
    slowCalls: sum("slowCalls"),
    consecutiveFailures: Math.max(0, ...windows.map((window) => window.consecutiveFailures)),
  };
}

function worstLoad(reports: readonly BackendReport[]): BackendView["load"] {
  const told = reports.flatMap(({ load }) => (load === undefined ? [] : [load]));
  const worst = (key: "kvCacheUse" | "waiting") => {
    const known = told.flatMap(({ [key]: figure }) => (figure === undefined ? [] : [figure]));
    return known.length === 0 ? {} : { [key]: Math.max(...known) };
  };
  return told.length === 0 ? undefined : { ...worst("kvCacheUse"), ...worst("waiting") };
}

function viewLatency({ baselineMs, ...latency }: Latency): BackendView["latency"] {
  return { ...latency, ...(baselineMs > 0 && { baselineMs }) };
}

function viewGroup({ live, evidence, prober }: GroupBackendView): BackendView["group"] {
  return { live, evidence, ...(prober !== undefined && { prober }) };
}

function viewSignals({ isFresh, kvCacheUse, waiting, isQueueLong }: Signals): BackendView["signals"] {
  return {
    isFresh,
    ...(kvCacheUse !== undefined && { kvCacheUse }),
    ...(waiting !== undefined && { waiting }),
    isQueueLong,
  };
}
