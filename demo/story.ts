import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "./clock.js";
import { type Fleet, startFleet } from "./fleet/fleet.js";
import { demoBackends } from "./fleet/settings.js";
import { loadPromptCounter } from "./fleet/tokenizer.js";
import type { CallRecord } from "./load/caller.js";
import { startLoad } from "./load.js";
import { type RealFault, startRealPrimary } from "./real/primary.js";
import { type Child, startChild, waitUntilReady } from "./story/children.js";
import { findEnvoy, startEnvoy, upstreamRequests } from "./story/envoy.js";
import { Narrator } from "./story/narrator.js";
import { phasesOf, type Span } from "./story/phases.js";
import { type Plan, planStory } from "./story/plan.js";
import { accepts, assertPortFree } from "./story/ports.js";
import { type Primary, simulatedPrimary } from "./story/primary.js";
import type { Screen } from "./story/screen.js";
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

const PORTS = { gateway: 10_000, admin: 9901, service: 9002, serviceHttp: 9003, gpu: 9101, model: 9104 };
/** What the shipped policy promises about canaries. */
const CANARY_LIMITS = { tokens: 256, atOnce: 2 };

/** The cast: everything that runs during the story, stopped in reverse order of its start. */
class Cast {
  readonly #stops: (() => Promise<unknown>)[] = [];
  #dismissed = false;

  /** A member that is ready only after the dismissal is stopped at once. */
  async add<T>(member: Promise<T>, stop: (member: T) => Promise<unknown>): Promise<T> {
    const present = await member;
    if (this.#dismissed) await stop(present);
    else this.#stops.push(() => stop(present));
    return present;
  }

  async dismiss(): Promise<void> {
    this.#dismissed = true;
    for (const stop of this.#stops.splice(0).reverse()) await stop();
  }
}

/**
 * Tells the outage story on the shipped full.yaml: healthy, out of memory, open, served by the fallback, probe, canaries,
 * closed. Everything it starts is stopped when it resolves, rejects or `signal` is aborted.
 * @throws PortBusyError, ChildError, RealModelError, EnvoyUnavailableError
 */
export async function tellStory(
  options: StoryOptions,
  screen: Screen,
  signal: AbortSignal,
): Promise<StoryResult> {
  const cast = new Cast();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  try {
    return await Promise.race([play(options, screen, signal, cast), aborted]);
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
): Promise<StoryResult> {
  const plan = planStory({ seed: options.seed, real: options.real !== undefined, quick: options.quick });
  const transitions: Transition[] = [];
  let narrator: Narrator | undefined;

  const { fleet, primary } = await setScene(options, screen, cast);
  const children = await startGateway(options, cast, (transition) => {
    transitions.push(transition);
    narrator?.transition(transition);
  });
  for (const [name, child] of Object.entries(children)) {
    void child.ended.then((how) => screen.event("ended", `${name}: ${how}`, "dim"));
  }
  screen.event(
    "ready",
    `Envoy with ${options.concurrency} workers before ${primary.what}, seed ${options.seed}`,
  );

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

/** The backends: a simulated fleet, its first one replaced by a real model when asked for. */
async function setScene(
  options: StoryOptions,
  screen: Screen,
  cast: Cast,
): Promise<{ fleet: Fleet; primary: Primary }> {
  await assertPortFree(PORTS.gateway, "the gateway's listener");
  await assertPortFree(PORTS.admin, "Envoy's admin interface");
  await assertPortFree(PORTS.service, "the service's gRPC port");
  await assertPortFree(PORTS.serviceHttp, "the service's HTTP port");
  const countPromptTokens = loadPromptCounter(options.repoRoot);
  const [, ...fallbacks] = demoBackends();
  const backends = options.real === undefined ? demoBackends() : fallbacks;
  const fleet = await cast.add(startFleet({ backends, seed: options.seed, countPromptTokens }), (it) =>
    it.stop(),
  );
  if (options.real === undefined) return { fleet, primary: simulatedPrimary(fleet.backend("gpu")) };
  await assertPortFree(PORTS.model, "the real model's server");
  const real = startRealPrimary({
    repoRoot: options.repoRoot,
    logFolder: options.logFolder,
    port: PORTS.gpu,
    serverPort: PORTS.model,
    fault: options.real,
    countPromptTokens,
    tell: (text) => screen.event("install", text),
  });
  return { fleet, primary: await cast.add(real, (it) => it.stop()) };
}

/** The product itself: the service, and Envoy with the shipped YAML as it is. */
async function startGateway(
  options: StoryOptions,
  cast: Cast,
  onTransition: (transition: Transition) => void,
): Promise<{ service: Child; envoy: Child }> {
  const { repoRoot, logFolder, concurrency } = options;
  const serviceLog = `${logFolder}/service.log`;
  const service = await cast.add(
    startChild({
      name: "the service",
      command: process.execPath,
      args: ["--enable-source-maps", "build/js/extproc/main.js"],
      cwd: repoRoot,
      logFile: serviceLog,
    }),
    (it) => it.stop(),
  );
  await waitUntilReady(service, "The service", serviceLog, () => accepts(PORTS.service));
  const binary = await findEnvoy(repoRoot);
  const config = "envoy/full.yaml";
  const envoy = await cast.add(
    startEnvoy({ binary, repoRoot, logFolder, config, concurrency, adminPort: PORTS.admin, onTransition }),
    (it) => it.stop(),
  );
  return { service, envoy };
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
