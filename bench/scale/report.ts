import { type Figure, figure } from "../figures.js";
import { missed } from "../report/rows.js";
import type { Measured, Plot, Row, Table } from "../report/section.js";
import { blocksOf, instructionRows, timeRows } from "./constancy.js";
import type { Instructions } from "./instructions.js";
import { memoryRows, memoryTable } from "./memory-report.js";
import { allScales, type Scale, type Scales, stepsOf } from "./scales.js";
import type { Blocks, Times } from "./times.js";

export interface ScaleFigures {
  readonly scales: Scales;
  readonly times: Pick<Times, "cpu" | "idlePercent" | "memory" | "lostUpdates">;
  /** Without valgrind: why there are none. */
  readonly instructions: Instructions | string;
  /** Of a live stream, by a simulated Envoy. */
  readonly vmBytes: number;
}

const intro = `What full.yaml adds to a tiny request, with few and with many of a thing. _By instructions_: of user space, counted by valgrind, steady to
a few per cent, blind to caches. _By time_: CPU; what is compared is measured side by side, there and back in each block, and what an Envoy uses
without any request is taken off. In parentheses is not the spread of blocks, which is several times as wide, but where their median lies in 95 of 100 cases: where
that does not lie on one side of the target, time has shown nothing. Live streams have sent their first token and are silent; they come over HTTP/2, and the same
Envoy without the breaker holds as many. Each backend of the policy has a chain and a model of its own, and requests go to one. Each worker
has as many connections as the one has alone; they share the machine's cores, and the record, which each changes by compare-and-swap.`;

export function scaleResult(figures: ScaleFigures): Measured {
  const { scales, times, instructions, vmBytes } = figures;
  const { cpu, idlePercent, memory, lostUpdates } = times;
  const counted = typeof instructions === "string" ? new Map<string, number[]>() : instructions;
  const measured = allScales.filter(({ key }) => scales[key].length > 0);
  const rows: Row[] = measured.flatMap((scale) => [
    ...instructionRows(scale, stepsOf(scale, scales), counted),
    ...timeRows(scale, stepsOf(scale, scales), cpuOf(scale, cpu)),
  ]);
  rows.push(...memoryRows({ memory, vmBytes }));
  return {
    raw: {
      instructions: typeof instructions === "string" ? instructions : figuresOf(instructions, 1),
      cpuUs: Object.fromEntries(Array.from(cpu, ([key, blocks]) => [key, figuresOf(blocks, 1)])),
      idlePercent: figuresOf(idlePercent, 2),
      memory,
      vmBytesPerStream: vmBytes,
      lostUpdates,
    },
    section: {
      title: "With many streams, buckets, backends and workers",
      intro: [intro, ...remarks(figures)].join(" "),
      rows,
      tables: [idleTable(idlePercent), memoryTable(memory)],
      plots: measured.map((scale) => plotOf(scale, scales, cpuOf(scale, cpu))),
      behind: missed(rows),
    },
  };
}

function remarks({ instructions, times: { lostUpdates } }: ScaleFigures): string[] {
  const lost = lostUpdates === 0 ? "No update was lost." : `${lostUpdates} updates were lost.`;
  return typeof instructions === "string" ? [lost, `No instructions: ${instructions}.`] : [lost];
}

function cpuOf({ key }: Scale, cpu: Times["cpu"]): Blocks {
  return cpu.get(key) ?? new Map();
}

function plotOf(scale: Scale, scales: Scales, cpu: Blocks): Plot {
  const steps = stepsOf(scale, scales);
  const series = (name: string, kind: "full" | "bare") => ({
    name,
    points: steps.map((step) => pointOf(step.count, figure(blocksOf(step[kind], cpu)))),
  });
  return {
    name: `scale-${scale.unit}`,
    title: `CPU a request against ${scale.name}`,
    kind: "lines",
    x: scale.name,
    y: "µs",
    series: [series("full.yaml", "full"), series("Envoy without it", "bare")],
  };
}

function pointOf(x: number, { median, spread }: Figure) {
  return { x, y: median, spread };
}

function idleTable(idlePercent: Blocks): Table {
  return {
    caption: "CPU that an Envoy uses without any request, per cent of one core",
    columns: ["Envoy", "median", "spread"],
    rows: Array.from(idlePercent, ([name, blocks]) => {
      const { median, spread } = figure(blocks, 2);
      return [name, String(median), spread.join("–")];
    }),
  };
}

function figuresOf(blocks: Blocks, digits: number): Record<string, Figure> {
  return Object.fromEntries(Array.from(blocks, ([name, values]) => [name, figure(values, digits)]));
}
