import type { Figure } from "../figures.js";
import { atMost, missed, row } from "../report/rows.js";
import type { Measured } from "../report/section.js";

export interface StreamFigures {
  readonly perEventAloneUs: Figure;
  readonly perEventBatchedUs: Figure;
  readonly readingPerEventAloneUs: Figure;
  readonly readingPerEventBatchedUs: Figure;
  readonly addedTokenMsP50: Figure;
  readonly addedTokenMsP99: Figure;
  readonly barePerEventAloneUs: Figure;
  readonly barePerEventBatchedUs: Figure;
  readonly bareTokenMsP50: Figure;
}

export function streamSection(
  figures: StreamFigures,
  targets: Readonly<Record<string, number>>,
): Measured["section"] {
  const target = (name: string, figure: Figure) => atMost(figure, targets[name] ?? Number.NaN);
  const without = (figure: Figure) => ({ what: "Envoy without us", figure });
  const rows = [
    row("an event that comes alone", "µs added", figures.perEventAloneUs, {
      beside: without(figures.barePerEventAloneUs),
      target: target("perEventAloneUs", figures.perEventAloneUs),
    }),
    row("an event of eight in one read", "µs added", figures.perEventBatchedUs, {
      beside: without(figures.barePerEventBatchedUs),
      target: target("perEventBatchedUs", figures.perEventBatchedUs),
    }),
    row("a token's way, median", "ms added", figures.addedTokenMsP50, {
      beside: without(figures.bareTokenMsP50),
      target: target("addedTokenMsP50", figures.addedTokenMsP50),
    }),
    row("a token's way, 99th percentile", "ms added", figures.addedTokenMsP99),
  ];
  return {
    title: "Reading an event stream",
    intro:
      "Streamed answers of 500 events of 100 bytes through full.yaml, beside the same Envoy without the breaker: CPU inside Envoy, an event's share of " +
      "the whole answer, and how much later a token arrives.",
    rows,
    tables: [],
    plots: [],
    behind: missed(rows),
  };
}
