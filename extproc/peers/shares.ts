import { type GatewayView, MAX_SHARES, type Share } from "./message.js";

/** Of one backend in all gateways; a policy's is 16 at most. They are handed out one by one. */
const MAX_CAP = 256;

/** What is known of all gateways when the ramp's cap is shared out. */
export interface ShareGround {
  /** By process; those that are silent as well, for as long as they may go by their share. */
  readonly gateways: ReadonlyMap<string, GatewayView>;
  /** Whatever is not among them is gone, and not only unheard of since this service began. */
  readonly isComplete: boolean;
}

/** Takes all shares back: nobody has any in a phase that is no ramp. `by`: the version that does it. */
export function endedShares(before: readonly Share[], by: number, ground: ShareGround): Share[] {
  return keptShares(before, by, ground).map((share) => ended(share, by));
}

/**
 * The shares that remain: without those that were taken back and whose owner is known to know. Who has gone silent
 * loses its share, but goes by it until its Envoy has surely given up.
 */
export function keptShares(before: readonly Share[], by: number, ground: ShareGround): Share[] {
  return before.flatMap((share) => {
    const gateway = ground.gateways.get(share.process);
    if (gateway === undefined) return ground.isComplete ? [] : [ended(share, by)];
    if (gateway.isSilent) return [ended(share, by)];
    const isOver = share.endedBy !== 0 && gateway.track >= share.endedBy;
    return isOver ? [] : [share];
  });
}

/**
 * What is left of the cap, one by one to those who have least: the sum of all shares and of other gateways' canaries in
 * flight never passes it.
 * @param rank orders gateways that are alike; another order for each opening, so that one with a broken way to the
 *   backend does not decide all of them
 */
export function grownShares(
  kept: readonly Share[],
  cap: number,
  version: number,
  ground: ShareGround,
  rank: (process: string) => number,
): Share[] {
  const shares = new Map(kept.map((share) => [share.process, share]));
  const owners = candidates(shares, version, ground, rank);
  for (let free = Math.min(cap, MAX_CAP) - inUse(shares, ground); free > 0; free--) {
    const [first, ...others] = owners.map((process) => ({ process, count: shares.get(process)?.count ?? 0 }));
    if (first === undefined) break;
    const least = others.reduce((best, each) => (each.count < best.count ? each : best), first);
    // A canary of an earlier stage that is still in flight takes its place in the share.
    const count = least.count + 1;
    shares.set(least.process, { process: least.process, count, endedBy: 0 });
  }
  return [...shares.values()].slice(0, MAX_SHARES);
}

/** Canaries that could be in flight at once. */
function inUse(shares: ReadonlyMap<string, Share>, { gateways }: ShareGround): number {
  let sum = 0;
  for (const { process, count } of shares.values())
    sum += Math.max(count, gateways.get(process)?.livePermits ?? 0);
  for (const { process, livePermits } of gateways.values()) if (!shares.has(process)) sum += livePermits;
  return sum;
}

function candidates(
  shares: ReadonlyMap<string, Share>,
  version: number,
  { gateways }: ShareGround,
  rank: (process: string) => number,
): string[] {
  const able = [...gateways.values()].filter(({ process, state, isSilent, track }) => {
    const isLeftBehind = state === "OPEN" && track >= version;
    return !isSilent && state !== "CLOSED" && !isLeftBehind && (shares.get(process)?.endedBy ?? 0) === 0;
  });
  const busy = able.filter(({ hasTraffic }) => hasTraffic);
  return (busy.length > 0 ? busy : able)
    .map(({ process }) => process)
    .sort((one, other) => rank(one) - rank(other))
    .slice(0, Math.max(0, MAX_SHARES - shares.size));
}

function ended(share: Share, by: number): Share {
  return share.endedBy === 0 ? { ...share, endedBy: by } : share;
}
