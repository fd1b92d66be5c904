import { differences, type Figure, figure, medianWithin, ratioOfMedians, ratios } from "../figures.js";
import { row } from "../report/rows.js";
import type { Row, Target } from "../report/section.js";
import type { Scale, Step } from "./scales.js";
import type { Blocks } from "./times.js";

const most = 1.15;
const moreUs = 5;

/** By time: what each step adds, against the first one. */
export function timeRows(scale: Scale, [first, ...others]: readonly Step[], cpu: Blocks): Row[] {
  if (!first) return [];
  const base = added(first, cpu);
  const beside = { what: `µs added with ${amount(first.count)}`, figure: figure(base) };
  return others.map((step) => {
    const ratio = medianWithin(ratios(added(step, cpu), base));
    const limit = Math.max(most, (beside.figure.median + moreUs) / beside.figure.median);
    const target = verdict(ratio, limit, `at most ${most}, or ${moreUs} µs more`);
    return row(`${amount(step.count)} ${scale.name}, by time`, "× added", ratio, { beside, target });
  });
}

/** By instructions, for the steps that were counted. */
export function instructionRows(scale: Scale, steps: readonly Step[], counts: Blocks): Row[] {
  const [first, ...others] = steps.filter(({ full, bare }) => counts.has(full) && counts.has(bare));
  if (!first) return [];
  const base = added(first, counts);
  const beside = { what: `thousand instructions added with ${amount(first.count)}`, figure: figure(base) };
  return others.map((step) => {
    const ratio = ratioOfMedians(added(step, counts), base);
    const what = `${amount(step.count)} ${scale.name}, by instructions`;
    return row(what, "× added", ratio, { beside, target: verdict(ratio, most, `at most ${most}`) });
  });
}

/** Met or missed only where all of the interval lies on one side. */
function verdict({ spread: [low, high] }: Figure, limit: number, text: string): Target {
  if (high <= limit || low > limit) return { text, met: high <= limit };
  return { text: `${text}: not shown, too unsteady`, met: true };
}

function added({ full, bare }: Step, blocks: Blocks): number[] {
  return differences(blocksOf(full, blocks), blocksOf(bare, blocks));
}

export function blocksOf(name: string, all: Blocks): readonly number[] {
  const blocks = all.get(name);
  if (!blocks) throw new RangeError(`${name} was not measured`);
  return blocks;
}

function amount(count: number): string {
  return count.toLocaleString("en");
}
