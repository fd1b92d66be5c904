import type { Figure } from "../figures.js";

export interface Verdict {
  readonly target: number;
  readonly pass: boolean;
}

const minimalAddedUs = 30;
const fullAddedUs = 50;
const rejectRatio = 1.15;
const liveRatio = 1.15;
const liveAddedUs = 5;

/** Each figure that has a target, against it. With live streams 15 % or 5 µs more may be paid, whichever is more. */
export function judge(figures: {
  readonly minimalAddedUs: Figure;
  readonly fullAddedUs: Figure;
  readonly rejectCpuVsDirectResponse: Figure;
  readonly fullAddedUsAt5000LiveStreams: Figure;
}): Record<string, Verdict> {
  const withoutStreams = figures.fullAddedUs.median;
  const withStreams = Math.max(withoutStreams * liveRatio, withoutStreams + liveAddedUs);
  return {
    minimalAddedUs: verdict(figures.minimalAddedUs, minimalAddedUs),
    fullAddedUs: verdict(figures.fullAddedUs, fullAddedUs),
    rejectCpuVsDirectResponse: verdict(figures.rejectCpuVsDirectResponse, rejectRatio),
    fullAddedUsAt5000LiveStreams: verdict(figures.fullAddedUsAt5000LiveStreams, withStreams),
  };
}

function verdict(figure: Figure, target: number): Verdict {
  return { target: Number(target.toFixed(2)), pass: figure.median <= target };
}
