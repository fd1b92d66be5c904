import type { Figure } from "../figures.js";

/** Whether a figure is where it should be; `text` as a reader sees it: "at most 30". */
export interface Target {
  readonly text: string;
  readonly met: boolean;
}

/** One figure, with what it is compared with, out of the same interleaved run. */
export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly figure: Figure;
  readonly beside?: { readonly what: string; readonly figure: Figure };
  readonly target?: Target;
}

/** A table of another shape: each row has as many texts as there are columns. */
export interface Table {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** `x` is a category's name or a number, all of one kind in a plot; `spread` is drawn as a whisker. */
export interface Point {
  readonly x: string | number;
  readonly y: number;
  readonly spread?: readonly [number, number];
}

export interface Plot {
  /** The picture's file without its ending; unique in the report. */
  readonly name: string;
  readonly title: string;
  readonly kind: "bars" | "lines";
  readonly x: string;
  readonly y: string;
  readonly series: readonly { readonly name: string; readonly points: readonly Point[] }[];
}

/** What one benchmark has to say in docs/benchmarks.md. */
export interface Section {
  readonly name: string;
  readonly title: string;
  /** What was measured and how, in a few sentences of Markdown. */
  readonly intro: string;
  readonly seconds: number;
  readonly rows: readonly Row[];
  readonly tables: readonly Table[];
  readonly plots: readonly Plot[];
  /** Where we are behind, a sentence each, made from the figures: nobody has to look for it. */
  readonly behind: readonly string[];
}

/** What a benchmark gives: for a machine all that it has measured, for a reader its section. */
export interface Measured {
  readonly raw: object;
  readonly section: Omit<Section, "name" | "seconds">;
}
