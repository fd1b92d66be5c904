import type { LiveGateway } from "../sync/gateways.js";
import type { Fleet } from "./fleet.js";
import type { ChainsView } from "./schemas.js";

/** The chains of every policy, in its order. While a push is under way: of the version that most gateways have. */
export function viewChains(fleet: Fleet): ChainsView {
  const byPolicy = groupBy(fleet.list(), "policy");
  const policies = [...byPolicy].sort(([a], [b]) => (a < b ? -1 : 1));
  const chains = policies.flatMap(([policy, gateways]) =>
    mostCommon(gateways).map(({ name, tiers }) => ({ policy, name, tiers: [...tiers] })),
  );
  return { chains };
}

/** Of two that as many have, always the same one: figures that nobody has changed must not flicker. */
function mostCommon(gateways: readonly LiveGateway[]): LiveGateway["chains"] {
  const byVersion = groupBy(gateways, "policyHash");
  const [most] = [...byVersion].sort(([a, as], [b, bs]) => bs.length - as.length || (a < b ? -1 : 1));
  return most?.[1].at(-1)?.chains ?? [];
}

function groupBy(gateways: readonly LiveGateway[], key: "policy" | "policyHash"): Map<string, LiveGateway[]> {
  const groups = new Map<string, LiveGateway[]>();
  for (const gateway of gateways) {
    const known = groups.get(gateway[key]);
    if (known === undefined) groups.set(gateway[key], [gateway]);
    else known.push(gateway);
  }
  return groups;
}
