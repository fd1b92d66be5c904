import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "./clock.js";
import type { Fleet } from "./fleet/fleet.js";
import type { CallRecord } from "./load/caller.js";
import { startLoad } from "./load.js";
import type { RealFault } from "./real/primary.js";
import { Cast } from "./story/cast.js";
import { upstreamRequests } from "./story/envoy.js";
import { Narrator } from "./story/narrator.js";
import { phasesOf, type Span } from "./story/phases.js";
import { type Plan, planStory } from "./story/plan.js";
import type { Primary } from "./story/primary.js";
import type { Screen } from "./story/screen.js";
import { PORTS, setStage } from "./story/stage.js";
import { type Summary, summarize } from "./story/summary.js";
import { inOrder, type Transition } from "./story/transitions.js";
import { type Check, type ClusterCount, judgeStory } from "./story/verdict.js";

export interface StoryOptions {
  readonly repoRoot: string;
  readonly logFolder: string;
  readonly seed: number;
  /** Envoy's worker threads. */
  readonly concurrency: number;
  readonly real: RealFault | undefined;
  readonly quick: boolean;
}

export interface StoryResult {
  readonly summary: Summary;
  readonly clusters: readonly ClusterCount[];
  readonly checks: readonly Check[];
  readonly transitions: readonly Transition[];
  readonly spans: readonly Span[];
  readonly records: readonly CallRecord[];
  readonly startMs: number;
  readonly endMs: number;
}

/** What the shipped policy promises about canaries. */
const CANARY_LIMITS = { tokens: 256, atOnce: 2 };

/**
 * Tells the outage story on the shipped full.yaml: healthy, out of memory, open, served by the fallback, probe, canaries,
 * closed. Everything it starts is stopped when it resolves, rejects or `signal` is aborted.
 * @throws PortBusyError, ChildError, RealModelError, EnvoyUnavailableError
 */
export async function tellStory(
  options: StoryOptions,
  screen: Screen,
  stopping: AbortSignal,
): Promise<StoryResult> {
  const cast = new Cast();
  const loss = new AbortController();
  const signal = AbortSignal.any([stopping, loss.signal]);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  try {
    const onLoss = (error: Error): void => loss.abort(error);
    return await Promise.race([play(options, screen, signal, cast, onLoss), aborted]);
  } finally {
    screen.live("");
    await cast.dismiss();
  }
}

async function play(
  options: StoryOptions,
  screen: Screen,
  signal: AbortSignal,
  cast: Cast,
  onLoss: (error: Error) => void,
): Promise<StoryResult> {
  const plan = planStory(options);
  const transitions: Transition[] = [];
  let narrator: Narrator | undefined;
  const onTransition = (transition: Transition): void => {
    transitions.push(transition);
    narrator?.transition(transition);
  };
  screen.event("starting", "the backends, the service and Envoy", "dim");
  const { fleet, primary } = await setStage({ ...options, screen, onTransition, onLoss }, cast);
  screen.event(
    "ready",
    `Envoy with ${options.concurrency} workers before ${primary.what}, seed ${options.seed}`,
  );
  screen.event("live page", `http://127.0.0.1:${PORTS.serviceAdmin}/`, "cyan");

  const startMs = monotonicMs();
  const load = startLoad({
    port: PORTS.gateway,
    perSecond: plan.perSecond,
    seed: options.seed,
    mix: plan.mix,
  });
  await cast.add(Promise.resolve(load), (running) => running.abandon());
  const teller = await cast.add(Promise.resolve(new Narrator(screen, primary, load)), async (it) =>
    it.stop(),
  );
  narrator = teller;
  teller.start();
  screen.event("healthy", `${plan.perSecond} requests/s, short and long prompts, streamed and not`, "green");

  const ofPrimary = (): Transition[] =>
    inOrder(transitions.filter(({ backend }) => backend === primary.name));
  const { faultStartMs, faultEndMs } = await strike(plan, screen, signal, primary, ofPrimary);

  screen.event("ending", "the load stops, the last answers are awaited", "dim");
  const records = await load.stop();
  const endMs = monotonicMs();
  const clusters = await compareCounts(fleet, primary);
  teller.stop();

  const spans = phasesOf(ofPrimary());
  const summary = summarize({
    records,
    primary: primary.name,
    primaryArrivals: primary.arrivals.list(),
    transitions: ofPrimary(),
    spans,
    faultStartMs,
    faultEndMs,
  });
  const { seen } = fleet.backend("public");
  const checks = judgeStory({
    summary,
    clusters,
    leakedCredentials: load.credentials.filter((credential) => seen.has(credential)).length,
    canaryLimitTokens: CANARY_LIMITS.tokens,
    canaryLimitAtOnce: CANARY_LIMITS.atOnce,
  });
  return { summary, clusters, checks, transitions: inOrder(transitions), spans, records, startMs, endMs };
}

/** The dramatic part. Missing an expected change is no error here: the checks say what was not kept. */
async function strike(
  plan: Plan,
  screen: Screen,
  signal: AbortSignal,
  primary: Primary,
  transitions: () => Transition[],
): Promise<{ faultStartMs: number; faultEndMs: number }> {
  const until = async (limitMs: number, happened: () => boolean): Promise<void> => {
    const giveUpMs = monotonicMs() + limitMs;
    while (!happened() && monotonicMs() < giveUpMs) await sleep(50, undefined, { signal });
  };
  await sleep(plan.healthyMs, undefined, { signal });
  const faultStartMs = monotonicMs();
  screen.event("fault", await primary.beginFault(), "red");
  // A sick machine may have opened it before; what counts is that it is not closed now.
  await until(plan.openLimitMs, () => (transitions().at(-1)?.to ?? "CLOSED") !== "CLOSED");
  await sleep(Math.max(0, faultStartMs + plan.faultMs - monotonicMs()), undefined, { signal });
  const faultEndMs = monotonicMs();
  screen.event("repaired", await primary.endFault(), "yellow");
  await until(plan.recoverLimitMs, () => transitions().at(-1)?.to === "CLOSED");
  await sleep(plan.tailMs, undefined, { signal });
  return { faultStartMs, faultEndMs };
}

/** Our counts beside Envoy's. Both settle within moments of the last answer, so they get a few seconds to agree. */
async function compareCounts(fleet: Fleet, primary: Primary): Promise<ClusterCount[]> {
  const totals = new Map([...fleet.backends].map(([name, backend]) => [name, backend.arrivals]));
  totals.set(primary.name, primary.arrivals);
  const read = async (): Promise<ClusterCount[]> => {
    const envoy = await upstreamRequests(PORTS.admin, [...totals.keys()]);
    return [...totals].map(([cluster, { total }]) => ({
      cluster,
      envoy: envoy.get(cluster) ?? 0,
      fleet: total,
    }));
  };
  let counts = await read();
  for (let tries = 0; tries < 20 && counts.some((count) => count.envoy !== count.fleet); tries++) {
    await sleep(250);
    counts = await read();
  }
  return counts.sort((a, b) => a.cluster.localeCompare(b.cluster));
}
