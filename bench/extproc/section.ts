import type { Figure } from "../figures.js";
import { missed, row } from "../report/rows.js";
import type { Measured } from "../report/section.js";

export interface ExtprocFigures {
  readonly cpuUsPerRequest: Figure;
  readonly doNothingUs: Figure;
  readonly goDoNothingUs?: Figure;
  readonly doNothingVsGo?: Figure;
  readonly p50AddedMs: Figure;
  readonly p99AddedMs: Figure;
  readonly bareP99Ms: Figure;
}

export function extprocSection(figures: ExtprocFigures, maxRatioToGo: number): Measured["section"] {
  const { doNothingVsGo, goDoNothingUs } = figures;
  const rows = [
    row("a request that asks for nothing", "µs of the service", figures.doNothingUs, {
      ...(goDoNothingUs && { beside: { what: "the same server in Go", figure: goDoNothingUs } }),
      ...(doNothingVsGo && {
        target: { text: `at most ${maxRatioToGo} × Go`, met: doNothingVsGo.median <= maxRatioToGo },
      }),
    }),
    row("a chat of 2 kB, counted", "µs of the service", figures.cpuUsPerRequest),
    row("a caller's wait, median", "ms added", figures.p50AddedMs),
    row("a caller's wait, 99th percentile", "ms added", figures.p99AddedMs, {
      beside: { what: "not asked", figure: figures.bareP99Ms },
    }),
  ];
  return {
    title: "Asking the service",
    intro:
      "What the ext_proc service costs when a request is counted: its own CPU, and at 500 requests a second what callers wait." +
      (doNothingVsGo ? "" : " There was no Go here, so nothing stands beside it."),
    rows,
    tables: [],
    plots: [],
    behind: [...missed(rows), ...(doNothingVsGo ? [] : [`At most ${maxRatioToGo} × Go was not measured.`])],
  };
}
