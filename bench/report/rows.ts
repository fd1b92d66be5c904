// How benchmarks put their figures into a section.
import type { Figure } from "../figures.js";
import type { Row, Target } from "./section.js";

export function atMost(figure: Figure, most: number): Target {
  return { text: `at most ${most}`, met: figure.median <= most };
}

/** A row whose figure has a target that is more than a number. */
export function row(
  what: string,
  unit: string,
  figure: Figure,
  more: { readonly beside?: Row["beside"]; readonly target?: Target } = {},
): Row {
  return { what, unit, figure, ...more };
}

/** One value that has no spread: a count, or what was measured once. */
export function single(value: number): Figure {
  return { median: value, spread: [value, value] };
}

/** A sentence for each row whose target is missed. */
export function missed(rows: readonly Row[]): string[] {
  return rows
    .filter(({ target }) => target && !target.met)
    .map(({ what, unit, figure, target }) => `${what}: ${figure.median} ${unit}, not ${target?.text}.`);
}
