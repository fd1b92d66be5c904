import { setTimeout as sleep } from "node:timers/promises";
import type { Rig } from "../e2e/support/rig.js";
import type { Combination, Situation } from "./combination.js";
import { Lane } from "./lane.js";
import { Plan } from "./plan.js";
import { Ramp } from "./ramp.js";
import { rampCount, startCalmRig, startPushRig, startRampRig } from "./rigs.js";

/** Combinations that one Envoy goes through at the same time. */
const width: Record<Situation, number> = { calm: 6, "half-open": rampCount, push: 4 };
/** A push comes with each combination: often, but no flood that never lets the filter's tick come round. */
const pushPeriodMs = 600;

export interface Result {
  readonly id: string;
  /** Where in the answer the fault struck, and how many callers there were. */
  readonly detail: string;
  readonly seconds: number;
  /** The invariants that broke; none = passed. */
  readonly findings: readonly string[];
}

type Done = (result: Result) => void;

/** Runs every combination, each situation on an Envoy of its own, and tells each result as it comes. */
export async function runMatrix(
  combinations: readonly Combination[],
  seed: number,
  done: Done,
): Promise<void> {
  const plans = combinations.map((combination, at) => new Plan(combination, at + 1, seed));
  const of = (situation: Situation): Plan[] =>
    plans.filter(({ combination }) => combination.situation === situation);
  await Promise.all([
    runCalm(of("calm"), done),
    runHalfOpen(of("half-open"), done),
    runPush(of("push"), done),
  ]);
}

async function runCalm(plans: readonly Plan[], done: Done): Promise<void> {
  if (plans.length === 0) return;
  const rig = await startCalmRig();
  try {
    const lane = new Lane(rig);
    await lane.warmUp("chat");
    await each(plans, width.calm, (plan) => judged(plan, done, () => lane.drive(plan, chainOf(plan))));
    done(await envoyResult("calm", rig));
  } finally {
    await rig.stop();
  }
}

async function runPush(plans: readonly Plan[], done: Done): Promise<void> {
  if (plans.length === 0) return;
  const { rig, push, stop } = await startPushRig();
  try {
    const lane = new Lane(rig);
    await lane.warmUp("chat");
    let nextMs = 0;
    await each(plans, width.push, async (plan) => {
      const startMs = Math.max(performance.now(), nextMs);
      nextMs = startMs + pushPeriodMs;
      await sleep(startMs - performance.now());
      const pushing = async (): Promise<void> => {
        await sleep(plan.random.between(0, pushPeriodMs / 2));
        push();
      };
      await judged(plan, done, () => lane.drive(plan, chainOf(plan), pushing));
    });
    done(await envoyResult("push", rig));
  } finally {
    await stop();
  }
}

async function runHalfOpen(plans: readonly Plan[], done: Done): Promise<void> {
  if (plans.length === 0) return;
  const rig = await startRampRig();
  try {
    const lane = new Lane(rig);
    await new Ramp(rig, "shut", "shut", rig.gpu).open();
    const free = Array.from({ length: rampCount }, (_, at) => ({
      first: new Ramp(rig, `ramp${at}`, `ramp${at}`, rig.gpu),
      fallback: new Ramp(rig, `later${at}`, `later${at}`, rig.small),
    }));
    await each(plans, width["half-open"], async (plan) => {
      const ramps = free.pop();
      if (!ramps) throw new Error("more combinations at once than backends to open");
      const ramp = plan.combination.tier === "fallback" ? ramps.fallback : ramps.first;
      await judged(plan, done, async () => {
        await ramp.open();
        await ramp.whenRamping();
        return [...(await lane.drive(plan, ramp.chain)), ...(await ramp.recover())];
      });
      free.push(ramps);
    });
    done(await envoyResult("half-open", rig));
  } finally {
    await rig.stop();
  }
}

function chainOf({ combination }: Plan): string {
  return combination.fault.isDead ? `dead-${combination.tier}` : "chat";
}

/** Runs `task` for every item, `width` of them at a time, in order. */
async function each<T>(items: readonly T[], width: number, task: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await task(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

async function judged(plan: Plan, done: Done, run: () => Promise<string[]>): Promise<void> {
  const startMs = performance.now();
  const findings = await run().catch((error: Error) => [error.message]);
  const { id, moment } = plan.combination;
  done({ id, detail: `${moment}, ${plan.callers} callers`, seconds: secondsSince(startMs), findings });
}

/** What holds for an Envoy after all its combinations. */
async function envoyResult(situation: Situation, rig: Rig): Promise<Result> {
  const startMs = performance.now();
  const findings: string[] = [];
  if (rig.envoy.exit !== undefined) findings.push(`Envoy ended: ${rig.envoy.exit}`);
  const stats = await rig.envoy.stats("^wasm\\..*vm_reload|_rq_active$|config_fail$|config_reload$");
  for (const [name, value] of stats) {
    // The question for these figures is itself a request to the admin listener.
    if (name.startsWith("http.admin.") || name.endsWith("config_reload")) continue;
    if (value > 0) findings.push(`${name} is ${value}`);
  }
  if (stats.size === 0) findings.push("Envoy told no figures");
  if (
    situation === "push" &&
    ![...stats].some(([name, value]) => name.endsWith("config_reload") && value > 0)
  ) {
    findings.push("no push arrived");
  }
  for (const line of rig.envoy.log.matching(/\[critical\]|Function: proxy_|RuntimeError|Uncaught/)) {
    findings.push(`Envoy logged: ${line}`);
  }
  return { id: `envoy/${situation}`, detail: "after all", seconds: secondsSince(startMs), findings };
}

function secondsSince(startMs: number): number {
  return Math.round((performance.now() - startMs) / 100) / 10;
}
