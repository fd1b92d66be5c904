import type { Scenario } from "./scenario.js";
import type { Score } from "./score.js";

/** A score in which fewer is better. */
export interface Judged {
  readonly key: Exclude<keyof Score, "racer" | "callers" | "served">;
  readonly what: string;
  readonly unit: string;
  /** Less of a difference than this is the machine's noise, and nobody's win. */
  readonly noise: number;
}

export const judged: readonly Judged[] = [
  { key: "bareFailures", what: "bare failures", unit: "callers", noise: 0 },
  {
    key: "sickHits",
    what: "requests that hit the sick backend during the fault",
    unit: "requests",
    noise: 0,
  },
  { key: "wastedHits", what: "of these, requests that served nobody", unit: "requests", noise: 0 },
  {
    key: "peakRecovering",
    what: "the most requests at once on it while it recovers",
    unit: "requests",
    noise: 0,
  },
  { key: "ttftP50Ms", what: "time to first token during the fault, median", unit: "ms", noise: 40 },
  { key: "ttftP99Ms", what: "time to first token during the fault, 99th percentile", unit: "ms", noise: 150 },
  {
    key: "secondsToOpen",
    what: "from the fault's start until the sick backend is left alone",
    unit: "s",
    noise: 0.2,
  },
  { key: "secondsToFull", what: "from the fault's end until full service", unit: "s", noise: 0.5 },
  { key: "fallbackPercent", what: "requests to the paid fallback", unit: "% of callers", noise: 1 },
];

export const ourName = "llm-breaker";
/** Not a peer: what the others are to be better than. */
export const baseLine = "nothing";

/** What is promised of our figure, in words and as a bound; undefined where no target was set. */
export interface Bound {
  readonly text: string;
  readonly most: number;
}

/** From the end of the fault until all is as before; what was not seen to come in the time watched has not come. */
const mostSecondsToFull = 15;

/**
 * None of ours fails bare, since the fallback is healthy in every scenario; so nobody has fewer. Fewest hits on the sick
 * backend, but where one node of several is sick: there no more than plain Envoy, whose ejection is the right tool.
 * In a storm a hit that serves its caller does no harm: beside the target stands how many did not.
 */
export function boundOf(key: Judged["key"], scenario: Scenario, scores: readonly Score[]): Bound | undefined {
  const peers = peersOf(scores);
  if (key === "bareFailures") return { text: "0", most: 0 };
  if (key === "secondsToFull") return { text: `at most ${mostSecondsToFull}`, most: mostSecondsToFull };
  if (key !== "sickHits" || peers.length === 0) return undefined;
  if (scenario.nodes > 1) {
    const envoy = peers.find(({ racer }) => racer === "envoy");
    return envoy && { text: `at most plain Envoy's ${envoy.sickHits}`, most: envoy.sickHits };
  }
  const fewest = Math.min(...peers.map(({ sickHits }) => sickHits));
  return { text: `at most the fewest of the others, ${fewest}`, most: fewest };
}

export function peersOf(scores: readonly Score[]): Score[] {
  return scores.filter(({ racer }) => racer !== ourName && racer !== baseLine);
}

/**
 * The peer with the least, where it is less than ours by more than noise. In all but bare failures and hits a peer only
 * counts when it left no more callers without an answer: who drops the slow ones is quick with the rest.
 */
export function winnerOver(us: Score, { key, noise }: Judged, scores: readonly Score[]): Score | undefined {
  const isPlain = key === "bareFailures" || key === "sickHits" || key === "wastedHits";
  const comparable = peersOf(scores).filter((peer) => isPlain || peer.bareFailures <= us.bareFailures);
  const [best] = comparable.toSorted((a, b) => amountOf(a, key) - amountOf(b, key));
  return best && amountOf(best, key) < amountOf(us, key) - noise ? best : undefined;
}

/** What a racer never came to took for ever. */
export const amountOf = (score: Score, key: Judged["key"]): number => score[key] ?? Number.POSITIVE_INFINITY;
