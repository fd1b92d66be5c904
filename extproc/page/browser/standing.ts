import type { BackendView, ChainsView, EntryView } from "../../control/schemas.js";

export type Chain = ChainsView["chains"][number];
type Gateway = BackendView["gateways"][number];

/**
 * How a backend stands, for the eye: what callers get comes first, and an operator's word before the breaker's own.
 * `closed`, `open`, `probing` and `ramp` are the breaker's; in shadow mode `open` refuses nobody.
 */
export type Standing = "closed" | "open" | "probing" | "ramp" | "forcedOpen" | "forcedClosed" | "disabled";

export const STANDING_NAMES: Readonly<Record<Standing, string>> = {
  closed: "Closed",
  open: "Open",
  probing: "Half-open",
  ramp: "Half-open",
  forcedOpen: "Forced open",
  forcedClosed: "Forced closed",
  disabled: "Disabled",
};

export function standingOf(backend: Pick<BackendView, "state" | "mode" | "gateways">): Standing {
  const { state, mode } = backend;
  if (mode === "forcedOpen" || mode === "forcedClosed" || mode === "disabled") return mode;
  if (state === "HALF_OPEN") return stageOf(backend) === 0 ? "probing" : "ramp";
  return state === "OPEN" ? "open" : "closed";
}

/** The gateway whose state is shown for all. */
export function worstGateway(backend: Pick<BackendView, "state" | "mode" | "gateways">): Gateway | undefined {
  const { state, mode, gateways } = backend;
  return gateways.find((each) => each.state === state && each.mode === mode) ?? gateways[0];
}

/** Half-open: 0 = the probe is awaited, n = stage n of the ramp. */
export function stageOf(backend: Pick<BackendView, "state" | "mode" | "gateways">): number {
  return worstGateway(backend)?.stage ?? 0;
}

/** Milliseconds since the state that is shown began, on the gateway that has been in it longest. */
export function sinceMs({ state, gateways }: Pick<BackendView, "state" | "gateways">): number {
  return Math.max(0, ...gateways.filter((each) => each.state === state).map(({ stateAgeMs }) => stateAgeMs));
}

/** Requests at large are let through; canaries and probes are not at large. */
export function admits({ state, mode }: Pick<BackendView, "state" | "mode">): boolean {
  if (mode === "forcedOpen") return false;
  return mode !== "enforce" || state === "CLOSED";
}

/** The tier that answers a chain's callers first, from 0; -1 when none lets them through. */
export function servingTier(chain: Chain, backends: ReadonlyMap<string, BackendView>): number {
  return chain.tiers.findIndex((name) => {
    const backend = backends.get(name);
    return backend !== undefined && admits(backend);
  });
}

/** Gateways that see it another way than the one that is shown: state or mode. */
export function disagreeing({
  gateways,
}: Pick<BackendView, "gateways">): { open: number; of: number } | undefined {
  const refusing = gateways.filter(({ state, mode }) => mode === "forcedOpen" || state === "OPEN").length;
  const states = new Set(gateways.map(({ state, mode }) => `${state} ${mode}`));
  return states.size < 2 ? undefined : { open: refusing, of: gateways.length };
}

/** The entry that says why a backend is not Closed: what opened it first in the row that lasts. */
export function openingOf(name: string, entries: readonly EntryView[]): EntryView | undefined {
  const own = entries.filter((entry) => entry.backend === name && entry.kind === "transition");
  const lastClosing = own.findLastIndex((entry) => entry.kind === "transition" && entry.to === "CLOSED");
  return own
    .slice(lastClosing + 1)
    .find((entry) => entry.kind === "transition" && entry.from === "CLOSED" && entry.to === "OPEN");
}

/** Chains by their policy's order; and the backends that stand in none. */
export function grouped(
  chains: readonly Chain[],
  backends: readonly BackendView[],
): { chains: readonly Chain[]; loose: readonly BackendView[] } {
  const placed = new Set(chains.flatMap(({ tiers }) => tiers));
  return { chains, loose: backends.filter(({ name }) => !placed.has(name)) };
}
