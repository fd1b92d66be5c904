import { differences, type Figure, figure, ratios } from "../figures.js";
import { row } from "../report/rows.js";
import type { Measured } from "../report/section.js";

const title = "Instructions a request";
const unit = "thousand added";

const intro = `User-space instructions that Envoy executes for a tiny request, counted by valgrind (callgrind): the same in every run to a few per
mille, where time is not, but blind to caches. \`Filters that do nothing\` is the same pair of wasm filters without a line in them: what
any wasm plugin pays. Each value that Envoy hands to a plugin's memory costs 8 to 9 thousand, whatever its size: before each call of the
plugin's allocator it builds the list of host calls that are allowed meanwhile.`;

export function unmeasured(why: string): Measured {
  const text = `Not measured: ${why}.`;
  return {
    raw: { whyNot: why },
    section: { title, intro: text, rows: [], tables: [], plots: [], behind: [] },
  };
}

export function instructionsResult(measured: ReadonlyMap<string, readonly number[]>): Measured {
  const of = (name: string): number[] => (measured.get(name) ?? []).map((count) => count / 1000);
  const bare = of("bare");
  const added = (name: string): Figure => figure(differences(of(name), bare));
  const beside = { what: "thousand without a filter", figure: figure(bare) };
  const figures = {
    bare: figure(bare),
    noopAdded: added("noop"),
    minimalAdded: added("minimal"),
    fullAdded: added("full"),
    refusal: figure(of("refusal")),
    direct: figure(of("direct")),
    bareRefusalVsDirect: figure(ratios(of("bareRefusal"), of("direct")), 2),
    refusalVsDirect: figure(ratios(of("refusal"), of("direct")), 2),
  };
  const rows = [
    row("two wasm filters that do nothing", unit, figures.noopAdded, { beside }),
    row("minimal.yaml", unit, figures.minimalAdded, { beside }),
    row("full.yaml", unit, figures.fullAdded, { beside }),
    row(
      "a refusal by a wasm filter that does nothing else",
      "× direct_response",
      figures.bareRefusalVsDirect,
    ),
    row("a refusal", "× direct_response", figures.refusalVsDirect, {
      beside: { what: "thousand of direct_response", figure: figures.direct },
    }),
  ];
  return { raw: figures, section: { title, intro, rows, tables: [], plots: [], behind: [] } };
}
