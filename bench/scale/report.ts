import { differences, type Figure, figure, ratioOfMedians } from "../figures.js";
import { missed, row } from "../report/rows.js";
import type { Measured, Plot, Row, Table } from "../report/section.js";
import type { StandMemory } from "./memory.js";
import { memoryRows, memoryTable } from "./memory-report.js";
import type { Scales } from "./stand.js";

export interface ScaleFigures {
  readonly scales: Scales;
  /** Microseconds of Envoy's CPU a request, a figure a block, by variant. */
  readonly cpu: ReadonlyMap<string, readonly number[]>;
  /** Per cent of one CPU without any request, a figure a block, by variant. */
  readonly idlePercent: ReadonlyMap<string, readonly number[]>;
  readonly memory: readonly StandMemory[];
  /** Of a live stream, by a simulated Envoy. */
  readonly vmBytes: number;
  readonly lostUpdates: number;
}

/** One thing of which there may be many. */
interface Scale {
  readonly key: keyof Scales;
  readonly unit: string;
  readonly name: string;
  /** Its count in the variant that has no name of its own: what full.yaml has. */
  readonly base?: number;
  /** Whether Envoy without us was measured with as many. */
  readonly isBareToo: boolean;
}

const allScales: readonly Scale[] = [
  { key: "liveStreams", unit: "streams", name: "live streams", base: 0, isBareToo: true },
  { key: "buckets", unit: "buckets", name: "window buckets", isBareToo: false },
  { key: "backends", unit: "backends", name: "backends in the policy", isBareToo: false },
  { key: "workers", unit: "workers", name: "workers", base: 1, isBareToo: true },
];

const most = 1.15;
const moreUs = 5;

const intro = `What full.yaml adds to a tiny request, with few and with many of a thing, in one run in turns; what an Envoy uses without any
request is taken off. Live streams have sent their first token and are silent; they come over HTTP/2, and the same Envoy without the breaker
holds as many. Each backend of the policy has a chain and a model of its own, and requests go to one. Each worker has as many connections as
the one has alone; they share the machine's cores, and the record, which each changes by compare-and-swap.`;

export function scaleResult(figures: ScaleFigures): Measured {
  const lines = allScales
    .filter(({ key }) => figures.scales[key].length > 0)
    .map((scale) => lineOf(figures, scale));
  const rows = [...lines.flatMap(({ rows }) => rows), ...memoryRows(figures)];
  const lost =
    figures.lostUpdates === 0 ? "No update was lost." : `${figures.lostUpdates} updates were lost.`;
  return {
    raw: {
      cpuUs: figuresOf(figures.cpu, 1),
      idlePercent: figuresOf(figures.idlePercent, 2),
      memory: figures.memory,
      vmBytesPerStream: figures.vmBytes,
      lostUpdates: figures.lostUpdates,
    },
    section: {
      title: "With many streams, buckets, backends and workers",
      intro: `${intro} ${lost}`,
      rows,
      tables: [idleTable(figures.idlePercent), memoryTable(figures.memory)],
      plots: lines.map(({ plot }) => plot),
      behind: missed(rows),
    },
  };
}

function lineOf(figures: ScaleFigures, scale: Scale): { rows: Row[]; plot: Plot } {
  const { scales, cpu } = figures;
  const variant = (kind: string, count: number): readonly number[] => {
    const name =
      count === scale.base || (kind === "bare" && !scale.isBareToo)
        ? kind
        : `${kind}, ${count} ${scale.unit}`;
    const blocks = cpu.get(name);
    if (!blocks) throw new RangeError(`${name} was not measured`);
    return blocks;
  };
  const counts = scale.base === undefined ? scales[scale.key] : [scale.base, ...scales[scale.key]];
  const added = (count: number): number[] => differences(variant("full", count), variant("bare", count));
  const [first = 0, ...others] = counts;
  const base = figure(added(first));
  const beside = { what: `µs added with ${amount(first)}`, figure: base };
  const rows = others.map((count) => {
    const ratio = ratioOfMedians(added(count), added(first));
    const isMet = ratio.median <= Math.max(most, (base.median + moreUs) / base.median);
    const target = { text: `at most ${most}, or ${moreUs} µs more`, met: isMet };
    return row(`${amount(count)} ${scale.name}`, "× added", ratio, { beside, target });
  });
  const series = (name: string, kind: string) => ({
    name,
    points: counts.map((count) => pointOf(count, figure(variant(kind, count)))),
  });
  const plot: Plot = {
    name: `scale-${scale.unit}`,
    title: `CPU a request against ${scale.name}`,
    kind: "lines",
    x: scale.name,
    y: "µs",
    series: [series("full.yaml", "full"), series("Envoy without it", "bare")],
  };
  return { rows, plot };
}

function pointOf(x: number, { median, spread }: Figure) {
  return { x, y: median, spread };
}

function idleTable(idlePercent: ScaleFigures["idlePercent"]): Table {
  return {
    caption: "CPU that an Envoy uses without any request, per cent of one core",
    columns: ["Envoy", "median", "spread"],
    rows: Array.from(idlePercent, ([name, blocks]) => {
      const { median, spread } = figure(blocks, 2);
      return [name, String(median), spread.join("–")];
    }),
  };
}

function figuresOf(blocks: ReadonlyMap<string, readonly number[]>, digits: number): Record<string, Figure> {
  return Object.fromEntries(Array.from(blocks, ([name, values]) => [name, figure(values, digits)]));
}

function amount(count: number): string {
  return count.toLocaleString("en");
}
