import type { BackendView } from "../../control/schemas.js";
import { counted, listed } from "./format.js";
import { admits, type Chain, type Standing, servingTier, standingOf } from "./standing.js";

/** `down`: callers get errors. `bad`: a backend refuses them. `watch`: something is not as it should be for long. */
export type Tone = "good" | "watch" | "bad" | "down" | "unknown";

export interface Situation {
  readonly tone: Tone;
  readonly headline: string;
  /** Those that need a look, the worst first. */
  readonly troubles: readonly BackendView[];
}

const RANK: Readonly<Record<Standing, number>> = {
  open: 6,
  probing: 5,
  ramp: 4,
  forcedOpen: 3,
  forcedClosed: 2,
  disabled: 2,
  closed: 0,
};

/** What is wrong, in one line, and with which backends. */
export function situationOf(backends: readonly BackendView[], chains: readonly Chain[]): Situation {
  if (backends.length === 0) return { tone: "unknown", headline: "No gateway reports here", troubles: [] };
  const known = new Map(backends.map((backend) => [backend.name, backend]));
  const troubles = backends
    .filter((backend) => rankOf(backend) > 0)
    .sort((a, b) => rankOf(b) - rankOf(a) || a.name.localeCompare(b.name));
  const unserved = chains.filter((chain) => servingTier(chain, known) < 0).map(({ name }) => name);
  if (unserved.length > 0) return { tone: "down", headline: `Nobody serves ${listed(unserved)}`, troubles };
  return { ...headlineOf(backends, troubles), troubles };
}

function rankOf(backend: BackendView): number {
  return backend.override === undefined ? RANK[standingOf(backend)] : Math.max(1, RANK[standingOf(backend)]);
}

function headlineOf(
  backends: readonly BackendView[],
  troubles: readonly BackendView[],
): Pick<Situation, "tone" | "headline"> {
  const standing = (...wanted: Standing[]) =>
    troubles.filter((backend) => wanted.includes(standingOf(backend)));
  const open = standing("open").filter((backend) => !admits(backend));
  if (open.length > 0) return { tone: "bad", headline: sentence(open, "Open") };
  const recovering = standing("probing", "ramp");
  if (recovering.length > 0) return { tone: "watch", headline: sentence(recovering, "recovering") };
  const shadowed = standing("open");
  if (shadowed.length > 0) {
    return {
      tone: "watch",
      headline: `${sentence(shadowed, "Open")} in shadow mode: callers still reach it`,
    };
  }
  const held = standing("forcedOpen", "forcedClosed", "disabled");
  if (held.length > 0) return { tone: "watch", headline: sentence(held, "held by hand") };
  const all =
    backends.length === 1 ? "The one backend serves" : `All ${counted(backends.length, "backend")} serve`;
  return { tone: "good", headline: all };
}

function sentence(backends: readonly BackendView[], what: string): string {
  return `${listed(backends.map(({ name }) => name))} ${backends.length === 1 ? "is" : "are"} ${what}`;
}

/** What callers of a chain get now. */
export function serviceOf(chain: Chain, backends: ReadonlyMap<string, BackendView>): string {
  const tier = servingTier(chain, backends);
  if (tier < 0)
    return "no tier takes requests: callers get the exhausted answer (503, unless the policy says otherwise)";
  const where = tier === 0 ? "the first choice" : `tier ${tier + 1} of ${chain.tiers.length}`;
  return `served by ${chain.tiers[tier]}, ${where}`;
}
