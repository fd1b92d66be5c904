import type { Fault, Moment } from "./fault.js";
import { faults } from "./faults.js";
import { Random } from "./random.js";

/** What the breaker is doing meanwhile. */
export type Situation = "calm" | "half-open" | "push";

/** Which tier is struck. Before `fallback` the first tier cannot serve either; `all` leaves nobody. */
export type Tier = "first" | "fallback" | "all";

export type Commit = "firstToken" | "complete";

export interface Combination {
  /** fault/moment/tier/form/commit, which says all that the seed does not. */
  readonly id: string;
  readonly fault: Fault;
  readonly situation: Situation;
  readonly moment: Moment;
  readonly tier: Tier;
  readonly streamed: boolean;
  readonly commit: Commit;
}

const tiers: readonly Tier[] = ["first", "fallback", "all"];
const commits: readonly Commit[] = ["firstToken", "complete"];

/** Every combination that makes sense. The moment within a half-open state or a push is drawn by the seed. */
export function allCombinations(seed: number): Combination[] {
  return faults.flatMap((fault) =>
    [true, false].flatMap((streamed) =>
      tiers.flatMap((tier) =>
        commits.flatMap((commit) => {
          const moments = (streamed ? fault.streamed : fault.json) ?? [];
          const make = (situation: Situation, name: string, moment?: Moment): Combination => {
            const id = [fault.id, name, tier, streamed ? "stream" : "json", commit].join("/");
            const drawn = moment ?? new Random(`${seed}/${id}/moment`).pick(moments);
            return { id, fault, situation, moment: drawn, tier, streamed, commit };
          };
          if (moments.length === 0) return [];
          const calm = moments.map((moment) => make("calm", moment, moment));
          // A backend that refuses connections never gets as far as half-open.
          const ramp = fault.isDead ? [] : [make("half-open", "half-open")];
          return [...calm, ...ramp, make("push", "config-push")];
        }),
      ),
    ),
  );
}

/** A sample of `count`: each fault at each of its moments, and in each situation, once at least. */
export function chosenCombinations(seed: number, count: number): Combination[] {
  const shuffled = new Random(`${seed}`).shuffled(allCombinations(seed));
  const firstOfItsKind = new Map<string, Combination>();
  for (const combination of shuffled) {
    const [fault, name] = combination.id.split("/");
    const kind = `${fault}/${name}`;
    if (!firstOfItsKind.has(kind)) firstOfItsKind.set(kind, combination);
  }
  const musts = [...firstOfItsKind.values()];
  const rest = shuffled.filter((combination) => !musts.includes(combination));
  return [...musts, ...rest].slice(0, Math.max(count, musts.length));
}
