import type { Figure } from "../figures.js";
import { missed, row } from "../report/rows.js";
import type { Measured } from "../report/section.js";
import type { Verdict } from "./targets.js";

export interface ChainFigures {
  readonly bareUs: Figure;
  readonly noopAddedUs: Figure;
  readonly minimalAddedUs: Figure;
  readonly fullAddedUs: Figure;
  readonly fullAddedUs20kB: Figure;
  readonly rejectCpuVsDirectResponse: Figure;
  readonly fullAddedUsAt5000LiveStreams: Figure;
}

export interface ChainBases {
  readonly bareUs20kB: Figure;
  readonly rejectUs: Figure;
  readonly directResponseUs: Figure;
}

export function chainSection(
  figures: ChainFigures,
  bases: ChainBases,
  verdicts: Readonly<Record<string, Verdict>>,
): Measured["section"] {
  const against = (name: keyof ChainFigures, unit = "") => {
    const verdict = verdicts[name];
    return verdict && { target: { text: `at most ${verdict.target}${unit}`, met: verdict.pass } };
  };
  const bare = { what: "Envoy without us", figure: figures.bareUs };
  const rows = [
    row("two wasm filters that do nothing", "µs added", figures.noopAddedUs, { beside: bare }),
    row("minimal.yaml, tiny request", "µs added", figures.minimalAddedUs, {
      beside: bare,
      ...against("minimalAddedUs"),
    }),
    row("full.yaml, tiny request", "µs added", figures.fullAddedUs, {
      beside: bare,
      ...against("fullAddedUs"),
    }),
    row("full.yaml, beside 5,000 live streams", "µs added", figures.fullAddedUsAt5000LiveStreams, {
      beside: bare,
      ...against("fullAddedUsAt5000LiveStreams"),
    }),
    row("full.yaml, chat of 20 kB, 50 events", "µs added", figures.fullAddedUs20kB, {
      beside: { what: "Envoy without us", figure: bases.bareUs20kB },
    }),
    row("a refusal", "× direct_response", figures.rejectCpuVsDirectResponse, {
      beside: { what: "µs of direct_response", figure: bases.directResponseUs },
      ...against("rejectCpuVsDirectResponse", " ×"),
    }),
  ];
  return {
    title: "The filter chain",
    intro:
      "CPU inside Envoy, one worker, each configuration beside the same Envoy without the breaker. Two filters that do nothing are " +
      "the floor of any wasm plugin in these two places.",
    rows,
    tables: [],
    plots: [],
    behind: missed(rows),
  };
}
