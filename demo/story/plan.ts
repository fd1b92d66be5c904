import { DEMO_MIX, type Mix } from "../load/mix.js";
import { seededRandom } from "../random.js";
import type { RealFault } from "../real/primary.js";

/** How long each part of the story lasts, and the load during it. */
export interface Plan {
  readonly perSecond: number;
  readonly mix: Mix;
  /** Healthy traffic before the fault; moved by the seed. */
  readonly healthyMs: number;
  readonly faultMs: number;
  /** The breaker must have opened this long after the fault began, or the story goes on without it. */
  readonly openLimitMs: number;
  /** The breaker must have closed this long after the fault ended. */
  readonly recoverLimitMs: number;
  /** Healthy traffic after the recovery. */
  readonly tailMs: number;
}

/** llama.cpp on one CPU core: four slots of 1024 tokens, and little to spare beside Envoy and the callers. */
const REAL_MIX: Mix = {
  ...DEMO_MIX,
  shortWords: [4, 24],
  longWords: [80, 160],
  longShare: 0.2,
  completionsShare: 0,
  maxTokens: [4, 8, 12],
};

/** The seed moves the moment of the fault by up to 3 s either way. */
export function planStory(options: { seed: number; real: RealFault | undefined; quick: boolean }): Plan {
  const shift = (seededRandom(options.seed * 31 + 7)() - 0.5) * 6000;
  const isReal = options.real !== undefined;
  const plan: Plan = {
    perSecond: isReal ? 1.5 : 25,
    mix: isReal ? REAL_MIX : DEMO_MIX,
    healthyMs: Math.round(12_000 + shift),
    // A frozen server is only told from a slow one by the first-token limit, 10 s.
    faultMs: options.real === "stop" ? 25_000 : isReal ? 8000 : 15_000,
    openLimitMs: 20_000,
    recoverLimitMs: 120_000,
    tailMs: 10_000,
  };
  return options.quick && !isReal
    ? { ...plan, healthyMs: plan.healthyMs / 3, faultMs: 4000, tailMs: 3000 }
    : plan;
}
