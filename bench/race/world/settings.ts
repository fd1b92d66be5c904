import type { BackendSettings, Pace } from "../../../demo/fleet/settings.js";

/** Answers that a node works on at once. */
export const slots = 16;

/** A fast engine and short answers: everything in a race is some four times as fast as in life, callers' patience too. */
const primaryPace: Pace = {
  firstTokenMs: 120,
  prefillMsPerToken: 0.04,
  tokenGapMs: 14,
  jitter: 0.25,
  answerTokens: [12, 40],
};

const fallbackPace: Pace = { ...primaryPace, firstTokenMs: 300, tokenGapMs: 18 };

export const fallbackName = "fallback";
export const nodeName = (index: number): string => `node-${index}`;

export interface WorldSettings {
  readonly nodes: readonly number[];
  readonly fallback: number;
  readonly admin: number;
  readonly seed: number;
}

/** The engines of one world. Four nodes share one node's slots, so that a load is as heavy for four as for one. */
export function backendsOf({ nodes, fallback }: WorldSettings): BackendSettings[] {
  const limits = { maxRunning: slotsOf(nodes.length), kvCacheTokens: 200_000 };
  return [
    ...nodes.map((port, index) => ({
      ...{ name: nodeName(index), model: "qwen3-32b", port, pace: primaryPace, ...limits },
    })),
    ...[
      {
        name: fallbackName,
        model: "gpt-4o-mini",
        port: fallback,
        pace: fallbackPace,
        ...limits,
        maxRunning: 2000,
      },
    ],
  ];
}

export const slotsOf = (nodes: number): number => Math.max(1, Math.floor(slots / nodes));
