/** A figure over all blocks: its median, and the least and greatest, so that a reader sees the noise. */
export interface Figure {
  readonly median: number;
  readonly spread: readonly [number, number];
}

export function figure(values: readonly number[], digits = 1): Figure {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  const lower = sorted.length % 2 ? upper : sorted[middle - 1];
  const least = sorted[0];
  const most = sorted.at(-1);
  if (upper === undefined || lower === undefined || least === undefined || most === undefined) {
    throw new RangeError("a figure needs at least one block");
  }
  const round = (value: number): number => Number(value.toFixed(digits));
  return { median: round((upper + lower) / 2), spread: [round(least), round(most)] };
}

/** Block by block, so that noise which hit a whole round falls out. */
export function differences(values: readonly number[], base: readonly number[]): number[] {
  return values.map((value, at) => value - blockAt(base, at));
}

export function ratios(values: readonly number[], base: readonly number[]): number[] {
  return values.map((value, at) => value / blockAt(base, at));
}

/**
 * The ratio of two medians: for differences, of which a single block's is small against its noise. The spread is that of what is
 * left without any one block.
 */
export function ratioOfMedians(values: readonly number[], base: readonly number[]): Figure {
  const ratio = (without?: number): number => {
    const median = (all: readonly number[]): number =>
      figure(
        all.filter((_, at) => at !== without),
        6,
      ).median;
    return median(values) / median(base);
  };
  const whole = ratio();
  const others = base.length > 1 ? base.map((_, at) => ratio(at)) : [];
  const { spread } = figure([whole, ...others], 2);
  return { median: Number(whole.toFixed(2)), spread };
}

/** Of a hundred, in how many the median of endless blocks lies outside. */
const outsidePercent = 5;

/**
 * The median, and in place of the spread where that of endless blocks lies in 95 of 100 cases, by the ranks: one odd block does not move
 * it. Of fewer than six blocks nobody can tell: it is the spread.
 */
export function medianWithin(values: readonly number[], digits = 2): Figure {
  const { median } = figure(values, digits);
  const sorted = [...values].sort((a, b) => a - b);
  const ignored = ranksOutside(values.length);
  const { spread } = figure(sorted.slice(ignored, sorted.length - ignored), digits);
  return { median, spread };
}

/** How many blocks at each end the median lies beyond by chance as rarely as that: as tosses of a coin all fall on one side. */
function ranksOutside(count: number): number {
  let ways = 1;
  let sum = 0;
  for (let rank = 0; rank < count; rank++) {
    sum += ways / 2 ** count;
    if (2 * sum * 100 > outsidePercent) return Math.max(0, rank - 1);
    ways = (ways * (count - rank)) / (rank + 1);
  }
  return 0;
}

function blockAt(values: readonly number[], at: number): number {
  const value = values[at];
  if (value === undefined) throw new RangeError("blocks are missing");
  return value;
}
