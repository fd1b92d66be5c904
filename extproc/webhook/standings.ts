import type { OtherMember } from "../peers/group.js";
import type { BackendReport, State } from "../sync/contract.js";

/** A gateway on which a backend is not Closed. */
export interface OpenGateway {
  /** Envoy's node, or the name of the group's member that it belongs to. */
  readonly node: string;
  readonly process: string;
  readonly state: State;
}

/** How one backend stands over all gateways that are known of. */
export interface Standing {
  /** Live gateways that have it. */
  gateways: number;
  /** Where callers are refused, or only tried with. */
  readonly away: OpenGateway[];
  isOpen: boolean;
  /** An operator has the say on some gateway. */
  isOperated: boolean;
  /** How long ago the earliest of the openings here was; 0 when only others have one. */
  openForMs: number;
  /** The policy only looks on. */
  isShadow: boolean;
}

/** Live gateways, as far as they are needed here. */
export type ListedGateway = {
  readonly node: string;
  readonly process: string;
  readonly silentMs: number;
  readonly backends: ReadonlyMap<string, { readonly report: BackendReport }>;
};

/** All backends that gateways of this service report, with what other members tell of the same. O(reports). */
export function standingsOf(
  gateways: readonly ListedGateway[],
  others: readonly OtherMember[],
): Map<string, Standing> {
  const standings = new Map<string, Standing>();
  for (const gateway of gateways)
    for (const [name, { report }] of gateway.backends) addOwn(standingOf(standings, name), gateway, report);
  for (const { name: node, backends } of others)
    for (const [name, { view }] of backends) {
      const standing = standings.get(name);
      // What others only look on at can't be told from what they refuse.
      if (standing === undefined || standing.isShadow) continue;
      standing.gateways += view.weight;
      for (const { process, state, isSilent } of view.gateways)
        if (!isSilent && state !== "CLOSED") addAway(standing, { node, process, state });
    }
  return standings;
}

function standingOf(standings: Map<string, Standing>, name: string): Standing {
  const known = standings.get(name);
  if (known !== undefined) return known;
  const standing: Standing = {
    gateways: 0,
    away: [],
    isOpen: false,
    isOperated: false,
    openForMs: 0,
    isShadow: false,
  };
  standings.set(name, standing);
  return standing;
}

function addOwn(standing: Standing, { node, process, silentMs }: ListedGateway, report: BackendReport): void {
  const { mode, policyMode, state, stateAgeMs } = report;
  standing.gateways++;
  if (mode !== policyMode) standing.isOperated = true;
  if (policyMode === "shadow") standing.isShadow = true;
  if (mode !== "enforce" || state === "CLOSED") return;
  addAway(standing, { node, process, state });
  if (state === "OPEN") standing.openForMs = Math.max(standing.openForMs, stateAgeMs + silentMs);
}

function addAway(standing: Standing, gateway: OpenGateway): void {
  standing.away.push(gateway);
  if (gateway.state === "OPEN") standing.isOpen = true;
}
