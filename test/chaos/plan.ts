import type { Combination } from "./combination.js";
import type { CallerHabit, Script, Shape } from "./fault.js";
import { Random } from "./random.js";
import { toldFaults } from "./told-faults.js";

/** What the chains of every combination are told, so that no caller waits for longer. */
export const limits = {
  firstTokenMs: 1_000,
  answerMs: 3_000,
  stallMs: 1_200,
  maxAttempts: 4,
  sameTierRetries: 1,
} as const;

const tickMs = 250;
/** For two slow cores that run everything: Envoys, backends, callers. */
const slackMs = 2_500;
/** Envoy adds up to half of a Retry-After to it. */
const patienceFactor = 1.5;

/** Why a first tier cannot serve, when the fault is to strike the one after it; none of them takes long. */
const quickFaults = toldFaults.filter(({ id }) =>
  ["status-500", "status-502", "status-529", "in-band-error"].includes(id),
);

/** What each tier does during a combination; decided by the seed and the combination's id alone. */
export class Plan {
  /** By tier; undefined = it is well. */
  readonly scripts: readonly (Script | undefined)[];
  readonly callers: number;
  readonly random: Random;

  constructor(
    readonly combination: Combination,
    readonly number: number,
    seed: number,
  ) {
    this.random = new Random(`${seed}/${combination.id}`);
    this.scripts = this.#scripts();
    this.callers = this.random.between(3, 5);
  }

  #scripts(): (Script | undefined)[] {
    const { fault, situation, moment, tier, streamed } = this.combination;
    const shape: Shape = { moment, streamed, random: this.random };
    if (tier === "first") return [fault.script(shape), undefined, undefined];
    if (tier === "all") return [fault.script(shape), fault.script(shape), fault.script(shape)];
    // With a half-open fallback the first tier is open, and nobody asks it.
    if (situation === "half-open") return [undefined, fault.script(shape), undefined];
    const before = this.random.pick(quickFaults).script({ ...shape, moment: "after-headers" });
    return [before, fault.script(shape), undefined];
  }

  /** The tier that the fault strikes first. */
  get struckTier(): number {
    return this.combination.tier === "fallback" ? 1 : 0;
  }

  get isHealthyTierLeft(): boolean {
    return this.combination.tier !== "all";
  }

  /** Whether the fault strikes when the caller has seen a part of the answer. */
  get isSeen(): boolean {
    if (this.scripts.some((script) => script?.isTooLong)) return true;
    const { streamed, commit, moment } = this.combination;
    return streamed && commit === "firstToken" && (moment === "after-tokens" || moment === "at-end");
  }

  get habit(): CallerHabit {
    return this.scripts.find((script) => script?.caller)?.caller ?? {};
  }

  /** Visits that a tier may get: one, and one more after a plain fault or a short Retry-After. */
  visitsAllowed(tier: number): number {
    const script = this.scripts[tier];
    // A canary has one try: its backend is not Closed.
    if (this.combination.situation === "half-open" && tier === this.struckTier) return 1;
    return script?.isPlain || script?.patienceMs ? 1 + limits.sameTierRetries : 1;
  }

  /** Visits beyond one for each tier: the chain's `sameTierRetries`, and each wait for a Retry-After. */
  get extraVisitsAllowed(): number {
    return limits.sameTierRetries + this.scripts.filter((script) => script?.patienceMs).length;
  }

  /** How long a caller may wait, from what the chain allows for each of `attempts`. */
  boundMs(attempts: number): number {
    const { streamed, commit } = this.combination;
    const attemptMs = streamed && commit === "firstToken" ? limits.firstTokenMs : limits.answerMs;
    const patienceMs = Math.max(0, ...this.scripts.map((script) => script?.patienceMs ?? 0)) * patienceFactor;
    const lastsMs = Math.max(0, ...this.scripts.map((script) => script?.lastsMs ?? 0));
    const afterTokenMs = limits.stallMs + tickMs + lastsMs;
    return attempts * (attemptMs + tickMs + patienceMs) + afterTokenMs + slackMs;
  }
}
