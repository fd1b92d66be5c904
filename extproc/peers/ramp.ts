import type { State } from "../sync/contract.js";
import { orderOf } from "./lease.js";
import { HOLDS_WORD_MS } from "./local-gateway.js";
import { LIVE_MS, type Member } from "./members.js";
import type { GatewayView, Share } from "./message.js";
import { endedShares, grownShares, keptShares, type ShareGround } from "./shares.js";
import { roundOf } from "./version.js";
import type { Word } from "./word.js";

/** So long a share that the version before did not have waits: two members may have shared the rest out at once. */
const SETTLE_MS = 1000;
/** A ramp without any gateway in it for so long has been lost. */
const ORPHANED_MS = 4000;
/** Owners whose canaries have decided nothing for so long hand their shares on. */
const STUCK_MS = 60_000;

/** How the ramp's cap is shared out among the gateways. */
export class Ramp {
  /** What each gateway of ours could have before the present word. */
  private before = new Map<string, number>();

  /** Shares of a new word. A later stage begins with those of the stage before; the rest is shared out once that is settled. */
  begin(word: Word | undefined, phase: State, version: number, cap: number, ground: ShareGround): Share[] {
    const shares = word?.shares ?? [];
    if (phase !== "HALF_OPEN") return endedShares(shares, version, ground);
    const kept = keptShares(shares, version, ground);
    if (word?.phase === "HALF_OPEN") return kept;
    return grownShares(kept, cap, version, ground, rankBy(version));
  }

  /** To be called before the word is replaced. */
  leave(word: Word, processes: readonly string[], now: number): void {
    this.before = new Map(processes.map((process) => [process, this.usable(word, process, now)]));
  }

  /** Canaries that a gateway may have in flight now. */
  usable(word: Word, process: string, now: number): number {
    if (word.phase !== "HALF_OPEN") return 0;
    const share = word.shares.find((each) => each.process === process && each.endedBy === 0)?.count ?? 0;
    const isSettled = !word.isGrowing || now - word.heardAtMs >= SETTLE_MS;
    return isSettled ? share : Math.min(share, this.before.get(process) ?? 0);
  }

  /** What is to be done for a ramp: nothing, to open again, or new shares for a new version. */
  next(word: Word, ground: ShareGround, ageMs: number): "open" | ((version: number) => Share[]) | undefined {
    const isAlive = [...ground.gateways.values()].some(
      ({ state, stage, isSilent }) => state === "HALF_OPEN" && stage > 0 && !isSilent,
    );
    if (!isAlive) return ageMs >= ORPHANED_MS ? "open" : undefined;
    if (ageMs < 2 * SETTLE_MS) return undefined;
    if (ageMs >= STUCK_MS) return (version) => endedShares(word.shares, version, ground);
    const shares = (version: number) => {
      const kept = keptShares(word.shares, version, ground);
      return grownShares(kept, word.cap, word.version, ground, rankBy(word.version));
    };
    return isOther(shares(word.version + 1), word.shares) ? shares : undefined;
  }

  /** All gateways that may have a share or canaries in flight; of one that two members tell of, the one that syncs. */
  gather(
    backend: string,
    own: readonly GatewayView[],
    members: readonly Member[],
    now: number,
  ): Map<string, GatewayView> {
    const found = new Map<string, GatewayView>();
    const add = (view: GatewayView) => {
      if (found.get(view.process)?.isSilent !== false) found.set(view.process, view);
    };
    for (const view of own) add(view);
    for (const { backends, heardAtMs, isReplaced } of members) {
      if (now - heardAtMs > HOLDS_WORD_MS) continue;
      const isGone = isReplaced || now - heardAtMs > LIVE_MS;
      for (const view of backends.get(backend)?.view.gateways ?? [])
        add(isGone ? { ...view, isSilent: true } : view);
    }
    return found;
  }
}

function rankBy(version: number): (process: string) => number {
  return (process) => orderOf(process, roundOf(version));
}

/** Whether valid shares differ; what was taken back and is known to be so needs no word of its own. */
function isOther(one: readonly Share[], other: readonly Share[]): boolean {
  const valid = (shares: readonly Share[]) => {
    const list = shares
      .filter(({ endedBy }) => endedBy === 0)
      .map(({ process, count }) => `${process} ${count}`);
    return list.sort().join();
  };
  return valid(one) !== valid(other);
}
