import { setTimeout as sleep } from "node:timers/promises";
import type { Rig } from "../e2e/support/rig.js";
import { type Answer, send } from "../support/client.js";
import { callSlowly } from "../support/slow-call.js";
import type { Arrival, Upstream } from "../support/upstream.js";
import { waitFor } from "../support/wait-for.js";
import { brokenBy } from "./invariants.js";
import { limits, type Plan } from "./plan.js";

const callerHeader = "x-chaos-caller";
const settleMs = 3_000;
const warmUpCalls = 12;
const completions = "/v1/chat/completions";

/** One Envoy with its three fake tiers, which play a plan for the callers that carry its number. */
export class Lane {
  readonly #plans = new Map<number, Plan>();

  constructor(readonly rig: Rig) {
    this.#tiers.forEach((upstream, tier) => {
      upstream.mode = ({ headers }) => this.#planOf(headers)?.scripts[tier]?.mode ?? { kind: "ok" };
    });
  }

  get #tiers(): readonly Upstream[] {
    return [this.rig.gpu, this.rig.small, this.rig.public_];
  }

  #planOf(headers: Arrival["headers"]): Plan | undefined {
    return this.#plans.get(Number.parseInt(headers[callerHeader] ?? "", 10));
  }

  /** The requests of a plan's callers, at all tiers or at one. */
  arrivals(plan: Plan, tier?: number): Arrival[] {
    const upstreams = tier === undefined ? this.#tiers : this.#tiers.slice(tier, tier + 1);
    return upstreams.flatMap(({ arrivals }) =>
      arrivals.filter(({ headers }) => this.#planOf(headers) === plan),
    );
  }

  /** A fresh Envoy's first requests take long on busy cores: the filter's code is compiled, the policy is learnt. */
  async warmUp(chain: string): Promise<void> {
    const body = JSON.stringify({ model: "m", messages: [] });
    await Promise.all(
      Array.from({ length: warmUpCalls }, () => send(`${this.rig.url}/${chain}${completions}`, { body })),
    );
  }

  /**
   * Lets a plan's callers through `chain`, a few milliseconds apart, and returns what broke an invariant.
   * @param meanwhile runs beside the callers
   */
  async drive(plan: Plan, chain: string, meanwhile?: () => Promise<void>): Promise<string[]> {
    this.#plans.set(plan.number, plan);
    const callers = Array.from({ length: plan.callers }, (_, caller) =>
      this.#call(plan, chain, caller, plan.random.between(0, 60)),
    );
    const [answers] = await Promise.all([Promise.all(callers), meanwhile?.()]);
    const findings = await this.#unsettled(plan);
    const { fault } = plan.combination;
    if (!fault.isDead && this.arrivals(plan, plan.struckTier).length === 0) {
      findings.push(`tier ${plan.struckTier} was never asked, so that nothing was tried`);
    }
    answers.forEach((answer, caller) => {
      findings.push(...brokenBy({ caller, answer, visits: this.#visits(plan, caller) }, plan));
    });
    return findings;
  }

  async #call(plan: Plan, chain: string, caller: number, startMs: number): Promise<Answer> {
    await sleep(startMs);
    const { streamed, commit } = plan.combination;
    const url = `${this.rig.url}/${chain}${commit === "complete" ? "-complete" : ""}${completions}`;
    const body = JSON.stringify({
      model: "m",
      stream: streamed,
      messages: [{ role: "user", content: "hi" }],
    });
    const headers = { [callerHeader]: `${plan.number}.${caller}` };
    const { pauseMs, ...leaving } = plan.habit;
    // Who waits for longer than all attempts together may take waits for ever.
    const timeoutMs = plan.boundMs(limits.maxAttempts) + 1_000;
    if (pauseMs === undefined) return await send(url, { headers, body, timeoutMs, ...leaving });
    return await callSlowly(url, { headers, body, timeoutMs, pauseMs });
  }

  #visits(plan: Plan, caller: number): number[] {
    const id = `${plan.number}.${caller}`;
    return this.#tiers.map(
      ({ arrivals }) => arrivals.filter(({ headers }) => headers[callerHeader] === id).length,
    );
  }

  /** Attempts that go on when every caller has gone. */
  async #unsettled(plan: Plan): Promise<string[]> {
    const live = (): Arrival[] => this.arrivals(plan).filter(({ endedAtMs }) => endedAtMs === undefined);
    const areOver = await waitFor(() => live().length === 0, settleMs).catch(() => false);
    return areOver ? [] : [`${live().length} attempts were alive ${settleMs} ms after the last caller`];
  }
}
