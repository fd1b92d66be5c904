import { type Call, type Mix, nextCall } from "../../demo/load/mix.js";
import { poissonGapMs, seededRandom } from "../../demo/random.js";
import type { Callers, Seconds } from "./scenario.js";

/** Chats, short and long, streamed and whole. */
const mix: Mix = {
  model: "qwen3-32b",
  shortWords: [6, 60],
  longWords: [500, 1500],
  longShare: 0.25,
  streamedShare: 0.6,
  completionsShare: 0,
  maxTokens: [16, 32, 64, 0],
};

export interface Planned {
  readonly atMs: number;
  readonly call: Call;
}

/** Who calls when, from the start of the race: a Poisson process, the same for every racer with the same seed. */
export function planCalls({ perSecond, rush }: Callers, seconds: Seconds, seed: number): Planned[] {
  // Two sources, so that a change of the mix does not move the arrivals.
  const arrivals = seededRandom(seed);
  const shapes = seededRandom(seed + 0x9e3779b9);
  const planned: Planned[] = [];
  const rate = (atMs: number): number =>
    rush && atMs >= rush.span[0] * 1000 && atMs < rush.span[1] * 1000 ? rush.perSecond : perSecond;
  for (let atMs = 0; ; ) {
    atMs += poissonGapMs(arrivals, rate(atMs));
    if (atMs >= seconds * 1000) return planned;
    planned.push({ atMs, call: nextCall(shapes, mix, planned.length) });
  }
}

/** Calls before the start, one after another: pools fill, compilers do their work. They are no part of the race. */
export function warmUpCalls(count: number, seed: number): Call[] {
  const random = seededRandom(seed + 1);
  return Array.from({ length: count }, (_, index) => nextCall(random, { ...mix, longShare: 0 }, -1 - index));
}
