import { atMost, missed, row, single } from "../report/rows.js";
import type { Measured } from "../report/section.js";

export interface SoakFigures {
  readonly rssGrowthMb: number;
  readonly wasmGrowthMb: number;
  readonly liveAttemptsAtEnd: number;
}

export function soakSection(
  figures: SoakFigures,
  targets: SoakFigures,
  requests: number,
): Measured["section"] {
  const against = (name: keyof SoakFigures) => ({ target: atMost(single(figures[name]), targets[name]) });
  const rows = [
    row("growth of Envoy", "MB", single(figures.rssGrowthMb), against("rssGrowthMb")),
    row("growth of the VMs' memory", "MB", single(figures.wasmGrowthMb), against("wasmGrowthMb")),
    row("attempts that never ended", "", single(figures.liveAttemptsAtEnd), against("liveAttemptsAtEnd")),
  ];
  return {
    title: "Memory over time",
    intro: `${requests.toLocaleString("en-GB")} requests, half of them left by their callers at any moment: from the end of the warm-up to the end.`,
    rows,
    tables: [],
    plots: [],
    behind: missed(rows),
  };
}
