// Whether memory stays flat while requests come and go, half of them left by their callers at any moment.
import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { seededRandom } from "../../demo/random.js";
import type { RunningEnvoy } from "../../test/support/envoy.js";
import { waitFor } from "../../test/support/wait-for.js";
import { shipped } from "../configs.js";
import { Fleet } from "../fleet.js";
import { PacedProcess } from "../load/paced-process.js";
import type { CutCounts } from "../load/paced-upstream.js";
import { machine } from "../machine.js";
import type { Measured } from "../report/section.js";
import { type MemorySample, sampleMemory, typical } from "./memory.js";
import { type CallerTotals, RestlessCaller } from "./restless-caller.js";
import { soakSection } from "./section.js";

export interface SoakSettings {
  /** Folder of the filter's modules. */
  readonly modules: string;
  readonly requests: number;
  readonly say: (line: string) => void;
}

interface Sample extends MemorySample {
  /** Requests that had ended. */
  readonly ended: number;
}

const clients = 10000;
const callers = 64;
const seed = 20_260_801;
const samplePeriodMs = 500;
const warmUpShare = 0.2;
const windowShare = 0.1;
const sayEvery = 20;
const quietTimeoutMs = 10_000;
/** Slower than this and the soak gives up: it must end on any machine. */
const leastPerSecond = 200;
const startUpSeconds = 30;
/** Each kind of moment must be met by at least this share of those who left. */
const leastCutShare = 0.1;

const targets = { rssGrowthMb: 5, wasmGrowthMb: 0, liveAttemptsAtEnd: 0 };

export async function measureSoak(settings: SoakSettings): Promise<Measured> {
  const { requests } = settings;
  const upstream = await PacedProcess.start();
  const fleet = new Fleet(settings.modules, upstream.port);
  try {
    const envoy = await fleet.addEnvoy(shipped("full.yaml", fleet.folder));
    const startMs = performance.now();
    const { totals, samples } = await soak(envoy, settings);
    const seconds = (performance.now() - startMs) / 1000;
    const live = await liveAttempts(envoy);
    const cuts = await upstream.cuts();
    checkCuts(cuts);
    const outcomes = await outcomesOf(envoy);
    checkJudged(outcomes, totals);

    const early = typical(between(samples, requests * warmUpShare, requests * (warmUpShare + windowShare)));
    const late = typical(between(samples, requests * (1 - windowShare), requests));
    const growth = (side: keyof MemorySample): number => Number((late[side] - early[side]).toFixed(2));
    const figures = {
      rssGrowthMb: growth("rss"),
      wasmGrowthMb: growth("wasm"),
      liveAttemptsAtEnd: live,
    };
    const raw = {
      ...figures,
      anonymousGrowthMb: growth("anonymous"),
      allocatedGrowthMb: growth("allocated"),
      requests,
      ...totals,
      seconds: Math.round(seconds),
      requestsPerSecond: Math.round(requests / seconds),
      targets,
      met: Object.fromEntries(
        Object.entries(targets).map(([name, target]) => [
          name,
          figures[name as keyof typeof targets] <= target,
        ]),
      ),
      details: {
        method: `medians of samples every ${samplePeriodMs} ms over 10 % of the requests: right after the first 20 %, and the last`,
        megabytesAfterWarmUp: early,
        megabytesAtEnd: late,
        cutsSeenByUpstream: cuts,
        outcomes,
        callers,
        seed,
        loadAverage: loadavg()[0],
      },
      machine: await machine(),
    };
    return { raw, section: soakSection(figures, targets, requests) };
  } finally {
    await fleet.stop();
    await upstream.stop();
  }
}

async function soak(
  envoy: RunningEnvoy,
  { requests, say }: SoakSettings,
): Promise<{ totals: CallerTotals; samples: readonly Sample[] }> {
  const totals: CallerTotals = { completed: 0, aborted: 0 };
  const samples: Sample[] = [];
  const random = seededRandom(seed);
  let left = requests;
  const takeNext = (): boolean => left-- > 0;
  const lines = Array.from(
    { length: callers },
    () => new RestlessCaller(envoy.port(clients), random, totals),
  );
  let isOver = false;
  const deadlineMs = performance.now() + (startUpSeconds + requests / leastPerSecond) * 1000;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      const ended = totals.completed + totals.aborted;
      const sample = { ended, ...(await sampleMemory(envoy)) };
      samples.push(sample);
      if (performance.now() > deadlineMs) {
        throw new Error(`only ${ended} of ${requests} requests had ended when the time was over`);
      }
      if (samples.length % sayEvery === 1) {
        say(`${ended} of ${requests}: rss ${sample.rss.toFixed(1)} MB · wasm ${sample.wasm.toFixed(1)} MB`);
      }
      await delay(samplePeriodMs);
    }
  };
  const calling = Promise.all(lines.map((line) => line.run(takeNext))).finally(() => {
    isOver = true;
  });
  await Promise.all([calling, watch()]);
  return { totals, samples };
}

function between(samples: readonly Sample[], from: number, to: number): readonly Sample[] {
  const chosen = samples.filter(({ ended }) => ended >= from && ended <= to);
  if (chosen.length === 0) throw new Error("too few requests for a sample in each window: raise --requests");
  return chosen;
}

/** What is left once all callers have gone. */
async function liveAttempts(envoy: RunningEnvoy): Promise<number> {
  let live = 0;
  const isQuiet = async (): Promise<boolean | undefined> => {
    live = await envoy.stat("cluster.gpu.upstream_rq_active");
    return live === 0 || undefined;
  };
  await waitFor(isQuiet, quietTimeoutMs, "an Envoy without requests").catch(() => undefined);
  return live;
}

async function outcomesOf(envoy: RunningEnvoy): Promise<Record<string, number>> {
  const prefix = "wasmcustom.llm_breaker.gpu.";
  const counters = await envoy.stats(`^${prefix.replaceAll(".", "\\.")}`);
  const names = [
    "permitted",
    "outcome.success",
    "outcome.neutral",
    "outcome.failure",
    "outcome.backpressure",
  ];
  return Object.fromEntries(names.map((name) => [name, counters.get(prefix + name) ?? 0]));
}

function checkCuts(cuts: CutCounts): void {
  const all = cuts.beforeHeaders + cuts.whileHeld + cuts.midStream;
  for (const [moment, count] of Object.entries(cuts)) {
    if (count < all * leastCutShare) throw new Error(`only ${count} of ${all} callers left ${moment}`);
  }
}

/** Every attempt was judged once, whoever left; a caller who leaves is nobody's failure. */
function checkJudged(outcomes: Record<string, number>, { completed, aborted }: CallerTotals): void {
  const { permitted = 0, "outcome.success": success = 0, "outcome.neutral": neutral = 0 } = outcomes;
  if (success + neutral === permitted && success >= completed && neutral <= aborted) return;
  throw new Error(`${completed} answers and ${aborted} leavers were judged ${JSON.stringify(outcomes)}`);
}
