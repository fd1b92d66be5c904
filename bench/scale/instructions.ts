import { shipped } from "../configs.js";
import { figure } from "../figures.js";
import { Fleet } from "../fleet.js";
import { Callgrind } from "../instructions/callgrind.js";
import { CountedEnvoy } from "../instructions/counted-envoy.js";
import { Crowd } from "../load/crowd.js";
import { UpstreamProcess } from "../load/upstream-process.js";
import type { Scales } from "./scales.js";
import { clients, loadOf, type Variant, variantsOf } from "./stand.js";
import { withSlowConnections } from "./variants.js";

/** Thousands of instructions a request, a figure a block, by variant. */
export type Instructions = ReadonlyMap<string, readonly number[]>;

const counts = { requests: { ms: 2000 }, blocks: 3 };
/** One after the other, so that what an Envoy does is the same each time. */
const connections = 1;
/** Of the machine's cores: each Envoy under valgrind needs one for its start. */
const atOnce = 2;

/**
 * What a request costs with few and with many of a thing, in instructions: blind to caches, and steady enough to show a law. Live streams
 * come to the one Envoy of their kind, fewest first. Without valgrind: the reason.
 */
export async function countInstructions(
  modules: string,
  scales: Scales,
  say: (line: string) => void,
): Promise<Instructions | string> {
  const whyNot = Callgrind.whyNot();
  if (whyNot) return whyNot;
  const upstream = await UpstreamProcess.start();
  const fleet = new Fleet(modules, upstream.port);
  const counted = new Map<string, readonly number[]>();
  const note = (name: string, blocks: readonly number[]): void => {
    counted.set(
      name,
      blocks.map((count) => count / 1000),
    );
    say(`${name}: ${(figure(blocks).median / 1000).toFixed(1)} thousand instructions`);
  };
  try {
    const left = ladders(variantsOf(countedScales(scales)));
    const countNext = async (): Promise<void> => {
      for (let next = left.shift(); next; next = left.shift()) await countLadder(fleet, next, note);
    };
    await Promise.all(Array.from({ length: atOnce }, countNext));
    return counted;
  } finally {
    await fleet.stop();
    await upstream.stop();
  }
}

/** The fewest streams and the most: opening them takes longest. valgrind runs one thread at a time, and of workers has nothing to tell. */
function countedScales(scales: Scales): Scales {
  const ends = scales.liveStreams.filter((_, at, { length }) => at === 0 || at === length - 1);
  return { ...scales, liveStreams: ends, workers: [] };
}

/** Variants that differ by their live streams alone are one Envoy's, one step after the other; the longest ladders first. */
function ladders(variants: readonly Variant[]): Variant[][] {
  const byEnvoy = new Map<string, Variant[]>();
  for (const variant of variants) {
    const { name, liveStreams } = variant;
    const envoy = liveStreams === undefined ? name : name.slice(0, name.indexOf(","));
    byEnvoy.set(envoy, [...(byEnvoy.get(envoy) ?? []), variant]);
  }
  return [...byEnvoy.values()].sort((a, b) => b.length - a.length);
}

async function countLadder(
  fleet: Fleet,
  steps: readonly Variant[],
  note: (name: string, blocks: readonly number[]) => void,
): Promise<void> {
  const [first] = steps;
  if (!first) return;
  const ownUpstream = steps.length > 1 ? await UpstreamProcess.start() : undefined;
  const crowd = new Crowd();
  const counted = await CountedEnvoy.start(
    fleet,
    withSlowConnections(first.config(shipped("full.yaml", fleet.folder))),
    ownUpstream?.port,
  );
  try {
    const port = counted.envoy.port(clients);
    for (const variant of steps) {
      await crowd.open(port, (variant.liveStreams ?? 0) - crowd.live);
      note(variant.name, await counted.count({ ...loadOf(variant, port), connections }, counts));
      crowd.requireLive(variant.liveStreams ?? 0);
    }
  } finally {
    crowd.close();
    await counted.stop();
    await ownUpstream?.stop();
  }
}
