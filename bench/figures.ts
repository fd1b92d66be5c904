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

function blockAt(values: readonly number[], at: number): number {
  const value = values[at];
  if (value === undefined) throw new RangeError("blocks are missing");
  return value;
}
